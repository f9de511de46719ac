"""The options of `level`, as users write them."""

from typing import Literal

from pydantic import Field, field_validator

from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig, preset_field
from reasoning.engine.reasoner import memory_field

__all__ = ["LEAST_CALLS", "Config", "split_names"]

LEAST_CALLS = 3
"""The least calls of a question: for atomic queries, a summary, and the answer."""

_UNLIMITED = "null: no limit but the budget of the question (the paper)."


class Config(StrategyConfig):
    """The paper's parameters and ablations, bounds where it has none, and what saves calls. With `preset=paper`, the
    bounds are gone and nothing is saved. `docs/strategies/level-rag.md` lists what then differs from the paper.
    """

    searchers: str = Field(
        default="",
        description="Names joined by '+' (`sparse+dense+graph`); empty: sparse+dense, graph if the corpus has triples, "
        "and web if it is configured and the request permits it. `sparse` and `dense` rewrite queries, others get them "
        "unchanged.",
    )
    k: int = Field(
        default=10, ge=1, le=MAX_K, description="Passages of each searcher; the request's `k` takes precedence."
    )
    high_level: bool = Field(
        default=True, description="false: only the low-level searchers, with the question itself (the ablation)."
    )
    summarize: bool = Field(default=True, description="false: later calls read the passages themselves (the ablation).")
    memory: bool = memory_field()
    verify: Literal["separate", "merged"] = Field(
        default="separate",
        description="`merged`: the supplement's call decides whether more is needed, as in the published code.",
    )
    max_calls: int | None = Field(
        default=20,
        ge=LEAST_CALLS,
        le=1000,
        description="At most this many calls of a model for a question, the last call included. Each round gets what "
        f"later rounds do not need at least. {_UNLIMITED}",
    )
    supplements: int | None = Field(
        default=3, ge=0, le=10, description=f"At most this many rounds of supplements. {_UNLIMITED}"
    )
    max_queries: int | None = Field(
        default=5, ge=1, le=20, description=f"At most this many atomic queries a round. {_UNLIMITED}"
    )
    rewrite: Literal["always", "adaptive", "never"] = Field(
        default="always",
        description="For sparse. `always`: keywords for every query (the paper); `adaptive`: only if the unchanged "
        "query finds too little (the published script); `never`: unchanged queries, which are not refined.",
    )
    sparse_depth: int = Field(default=3, ge=0, le=3, description="Refinements of refinements; 0: keywords alone.")
    max_refined: int = Field(
        default=6, ge=0, le=27, description="At most this many refined keyword queries are tried (the paper: 27)."
    )
    dense_rewrites: int = Field(default=3, ge=0, le=10, description="At most this many pseudo-documents are tried.")
    refine: Literal["together", "separate"] = Field(
        default="together",
        description="How a keyword query is refined. `together`: one call names the words to extend, emphasize and "
        "filter with; `separate`: a call for each of the three operations (the paper).",
    )
    loosen: bool = Field(
        default=True, description="A phrase that no passage has is tried again as words; false: it stays (the paper)."
    )
    judge_all: bool = Field(
        default=False,
        description="true: every retrieval with passages is verified (the paper), also one that hardly differs from "
        "an earlier one, and the last one.",
    )
    conclude_always: bool = Field(
        default=False,
        description="true: the last call is made although every summary says that nothing was found (the paper).",
    )

    preset: Literal["", "paper"] = preset_field(
        paper={
            "searchers": "sparse+dense+web",
            "k": 10,
            "high_level": True,
            "summarize": True,
            "memory": True,
            "max_calls": None,
            "verify": "separate",
            "supplements": None,
            "max_queries": None,
            "rewrite": "always",
            "sparse_depth": 3,
            "max_refined": 27,
            "dense_rewrites": 3,
            "refine": "separate",
            "loosen": False,
            "judge_all": True,
            "conclude_always": True,
        }
    )

    @field_validator("searchers")
    @classmethod
    def _check_names(cls, searchers: str) -> str:
        names = split_names(searchers)
        if searchers.strip() and not all(names):
            raise ValueError("a name between two '+' is empty")
        if len(set(names)) < len(names):
            raise ValueError("a searcher is named twice")
        return searchers


def split_names(searchers: str) -> tuple[str, ...]:
    """Returns the names of an option such as `sparse+dense`; '' gives none."""
    return tuple(name.strip() for name in searchers.split("+")) if searchers.strip() else ()

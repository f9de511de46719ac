"""The actions that refine a keyword query: which word to add to it, to emphasize and to exclude.

The source is LevelRAG (arXiv 2502.18139), algorithm 1, which makes a call for each of the three operations
(`propose_keyword`). `refine_query` proposes all three words in one call.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["OPERATIONS", "Operation", "Refinement", "propose_keyword", "refine_query"]

Operation = Literal["extend", "emphasize", "filter"]

OPERATIONS: tuple[Operation, ...] = ("extend", "emphasize", "filter")
"""In the order in which algorithm 1 puts the refined queries into its queue."""

_MAX_KEYWORD = 200
"""In characters."""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """A word, or a name of several words, for each of LevelRAG's three operations; '' if the model has none."""

    extend: str
    emphasize: str
    filter: str


class _Refined(BaseModel):
    extend: str = Field(max_length=_MAX_KEYWORD)
    emphasize: str = Field(max_length=_MAX_KEYWORD)
    filter: str = Field(max_length=_MAX_KEYWORD)


class _Proposed(BaseModel):
    keyword: str = Field(max_length=_MAX_KEYWORD)


async def refine_query(
    session: Session,
    question: str,
    query: str,
    passages: Sequence[Hit],
    *,
    tried: Sequence[str] = (),
    step: str = "",
    chunks: Collection[str] = (),
) -> Refinement:
    """Proposes all three in one call, from the passages that the query found; the paper makes one call for each.

    `tried` are other queries that did not find enough. `chunks` are ids of the chunks whose words the question or the
    query may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "refine_query"),
        question=question,
        variables={
            "question": neutral(question),
            "query": fenced("known", query),
            "tried": _format_tried(tried),
        },
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Refined)
    return Refinement(extend=reply.extend.strip(), emphasize=reply.emphasize.strip(), filter=reply.filter.strip())


async def propose_keyword(
    session: Session,
    operation: Operation,
    question: str,
    query: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> str:
    """Proposes the word for one operation, as the paper does: the call sees the question, the current query and the
    passages that this query found, and nothing else. Returns '' if the model has none.

    `chunks` are those of `refine_query`. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", f"{operation}_query"),
        question=question,
        variables={"question": neutral(question), "query": fenced("known", query)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Proposed)
    return reply.keyword.strip()


def _format_tried(queries: Sequence[str]) -> str:
    return "Other queries that were tried:\n" + fenced("known", "\n".join(queries)) if queries else ""

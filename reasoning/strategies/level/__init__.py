"""LevelRAG: a high-level searcher plans what to look up, low-level searchers rewrite for their own index."""

from typing import Literal

from pydantic import Field, field_validator

from core.errors import InvalidStrategy
from core.ports.reasoning import Answer, Question, Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import Conclusion
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.strategies.level.concluding import from_findings, from_searchers
from reasoning.strategies.level.rounds import Exploring, explored
from reasoning.strategies.level.searchers import Rewriting, Searchers

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "Level", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2502.18139"
_NAME = "level"


class Config(StrategyConfig):
    """The paper's parameters with its values, its ablations, and bounds where it has none."""

    searchers: str = Field(
        default="",
        description="Names joined by '+' (`sparse+dense+graph`); empty: sparse+dense, and web where it is configured "
        "and the request permits it. `sparse` and `dense` rewrite queries, others are asked as they are.",
    )
    k: int = Field(
        default=10, ge=1, le=MAX_K, description="Passages of each searcher; the request's `k` goes before it."
    )
    high_level: bool = Field(
        default=True, description="false: the low-level searchers alone, asked the question itself (the ablation)."
    )
    summarize: bool = Field(default=True, description="false: passages are handed on as they are (the ablation).")
    memory: bool = Field(
        default=False, description="Summaries may answer from the model's memory, as the paper's; a note says so."
    )
    verify: Literal["separate", "merged"] = Field(
        default="separate",
        description="`merged`: whether it is enough is left to the supplement's call, as in the published code.",
    )
    supplements: int = Field(default=3, ge=0, le=10, description="At most so many rounds of supplements.")
    max_queries: int = Field(default=5, ge=1, le=20, description="At most so many atomic queries a round.")
    rewrite: Literal["always", "adaptive", "never"] = Field(
        default="always",
        description="sparse: keywords for every query (the paper); for one that finds too little as it is (the "
        "published script); `never`: the query as it is, without refinements.",
    )
    sparse_depth: int = Field(default=3, ge=0, le=3, description="Refinements of refinements; 0: keywords alone.")
    max_refined: int = Field(default=27, ge=0, le=27, description="Refined keyword queries that are tried, at most.")
    dense_rewrites: int = Field(default=3, ge=0, le=10, description="Pseudo-documents that are tried, at most.")

    @field_validator("searchers")
    @classmethod
    def _each_once(cls, searchers: str) -> str:
        names = _split(searchers)
        if searchers.strip() and not all(names):
            raise ValueError("a name between two '+' is empty")
        if len(set(names)) < len(names):
            raise ValueError("a searcher is named twice")
        return searchers


class Level:
    """What to look for and how one index wants to be asked are two questions, and two kinds of searchers."""

    def __init__(self, config: Config, backends: Backends) -> None:
        if backends.searcher_chosen:
            raise InvalidStrategy(
                f"the reasoner 'level' has searchers of its own, and cannot take {backends.searcher_name!r} as the "
                f"request's searcher: name it in their list, as in level:searchers=sparse+{backends.searcher_name}"
            )
        self._config = config
        self._models = backends.chat(_NAME)
        self._unused = backends.searcher_name, backends.searcher
        rewriting = Rewriting(
            sparse=config.rewrite,
            sparse_depth=config.sparse_depth,
            max_refined=config.max_refined,
            dense=config.dense_rewrites,
        )
        self._searchers = Searchers(_split(config.searchers), rewriting, backends)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        answer = self._high if self._config.high_level else self._low
        return await run(_NAME, question, trace, self._models, self._unused, answer)

    async def _high(self, session: Session) -> Answer:
        config = self._config
        how = Exploring(
            searchers=self._searchers.of(session),
            k=session.question.k or config.k,
            summarize=config.summarize,
            memory=config.memory,
            verify=config.verify,
            supplements=config.supplements,
            max_queries=config.max_queries,
        )
        return _answered(session, await from_findings(session, await explored(session, how), how))

    async def _low(self, session: Session) -> Answer:
        k = session.question.k or self._config.k
        return _answered(session, await from_searchers(session, k, self._searchers.of(session)))


def _answered(session: Session, said: Conclusion) -> Answer:
    if not said.text:
        return abstention(_NAME, session, shown=said.shown)
    return finished(_NAME, session, said.text, said.citations, said.shown)


def _split(searchers: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in searchers.split("+")) if searchers.strip() else ()


def build(config: Config, backends: Backends) -> Reasoner:
    return Level(config, backends)

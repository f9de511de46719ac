"""Omni-RAG: mend the question, split it by intent, retrieve for each, rerank the union, think, answer."""

import time
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import Conclusion, conclude
from reasoning.actions.planning.denoise import denoise
from reasoning.actions.planning.split_intents import split_intents
from reasoning.engine.backends import Backends
from reasoning.engine.parallel import together
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.shared.union import union
from reasoning.shared.voting import vote

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "Omni", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2506.21384"
_NAME = "omni"
_LAST = "answer"
_UNRANKED = "omni: no reranker is configured; the union is ordered by the ranks that its passages had for each query"


class Config(StrategyConfig):
    """Which of its parts are on, and how much each of them does."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(
        default=10,
        ge=1,
        le=MAX_K,
        description="Passages for each query (the paper does not say); the request's `k` wins.",
    )
    denoise: bool = Field(default=True, description="Mend the question's spelling and grammar first.")
    decompose: bool = Field(default=True, description="Split the question into one query for each of its aspects.")
    max_intents: int = Field(default=5, ge=1, le=20, description="At most this many queries are used.")
    rerank: bool = Field(default=True, description="Order the union with the configured reranker.")
    rerank_by: Literal["rewritten", "original"] = Field(
        default="rewritten", description="The question that passages are reranked against (the paper says both)."
    )
    keep: int = Field(default=10, ge=1, le=MAX_K, description="So many passages of the union are read.")
    paths: int = Field(
        default=1, ge=1, le=16, description="Answers that are sampled and voted on; 1: one answer, not sampled."
    )
    temperature: float = Field(default=0.7, ge=0, le=2, description="Of the sampled answers, where there are several.")


class Omni:
    """Made for questions as people type them: misspelt, vague, and several at once."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)
        self._reranker = backends.reranker
        self._embedder = backends.embedder

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        asked = session.question.text
        rewritten = await denoise(session, asked) if self._config.denoise else asked
        queries: tuple[str, ...] = (rewritten,)
        if self._config.decompose:
            queries = await split_intents(session, rewritten, self._config.max_intents)
        planned = [PlannedStep(id=str(number), question=query) for number, query in enumerate(queries, start=1)]
        last = PlannedStep(id=_LAST, question=rewritten, parents=tuple(one.id for one in planned), depth=1)
        session.plan([*planned, last])
        found = await together(self._retrieve(session, one) for one in planned)
        against = rewritten if self._config.rerank_by == "rewritten" else asked
        passages = await self._best(session, against, union(found))
        return await self._conclude(session, passages, last)

    async def _retrieve(self, session: Session, planned: PlannedStep) -> tuple[Hit, ...]:
        began = time.perf_counter()
        private = session.planned_in_private and planned.question != session.question.text
        k = session.question.k or self._config.k
        hits = await session.search(planned.question, k, step=planned.id, private=private)
        seconds = time.perf_counter() - began
        session.answered(Step(id=planned.id, question=planned.question, hits=hits, answer="", seconds=seconds))
        return hits

    async def _best(self, session: Session, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The best of the union; equal scores stay in its order, and so does all without a reranker."""
        if self._config.rerank and self._reranker is None:
            session.trace.note(_UNRANKED)
        if not self._config.rerank or self._reranker is None:
            return tuple(hits[: self._config.keep])
        with session.trace.timed("rerank"):
            scores = await self._reranker.rank(question, [f"{hit.document.title}\n{hit.chunk.text}" for hit in hits])
        order = sorted(range(len(hits)), key=lambda place: -scores[place])
        return tuple(hits[place] for place in order[: self._config.keep])

    async def _conclude(self, session: Session, passages: tuple[Hit, ...], planned: PlannedStep) -> Answer:
        began = time.perf_counter()
        said = await self._generate(session, passages)
        session.answered(
            Step(
                id=_LAST,
                question=planned.question,
                hits=passages,
                answer=said.text,
                parents=planned.parents,
                depth=planned.depth,
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(_LAST),
            )
        )
        if not said.text:
            return abstention(_NAME, session, shown=said.shown)
        return finished(_NAME, session, said.text, said.citations, said.shown)

    async def _generate(self, session: Session, passages: tuple[Hit, ...]) -> Conclusion:
        """Of the question as it was asked, so that a mistake in mending it does not change what is answered."""
        question, paths = session.question.text, self._config.paths
        if paths == 1:
            return await conclude(session, question, passages, thinking=True, step=_LAST)
        drafts = await together(
            conclude(
                session,
                question,
                passages,
                thinking=True,
                step=_LAST,
                sample=sample,
                temperature=self._config.temperature,
            )
            for sample in range(1, paths + 1)
        )
        return await vote(drafts, self._embedder)


def build(config: Config, backends: Backends) -> Reasoner:
    return Omni(config, backends)

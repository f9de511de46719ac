"""Omni-RAG: corrects the question, splits it by intent, retrieves for each, reranks the union, and answers."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.embedding import Embedder
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Fact, Hit, Reranker, SearchResult
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.planning.split import denoise, split_intents
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import Conclusion, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, check_reranker, memory_field
from reasoning.engine.session import Session, gather
from reasoning.shared.fusion import fuse_rankings, vote

NEEDS_MODEL = True
SOURCE = "arXiv 2506.21384"
_LAST = "answer"
_UNRANKED = "omni: no reranker is configured; the union is ordered by the ranks that its passages had for each query"


class Config(StrategyConfig):
    """Which parts are on, and how much each does."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(
        default=10,
        ge=1,
        le=MAX_K,
        description="Passages for each query (the paper does not say); the request's `k` takes precedence.",
    )
    denoise: bool = Field(default=True, description="Correct the question's spelling and grammar first.")
    decompose: bool = Field(default=True, description="Split the question into one query for each of its aspects.")
    max_intents: int = Field(
        default=5, ge=0, le=20, description="At most this many queries are used; 0: all that the model writes."
    )
    rerank: bool = Field(default=True, description="Order the union with the configured reranker.")
    rerank_by: Literal["rewritten", "original"] = Field(
        default="rewritten", description="The question that passages are reranked against (the paper says both)."
    )
    generate_from: Literal["original", "rewritten"] = Field(
        default="original",
        description="The question that is answered. `original`: what the user asked, as in the paper (equation 6), so "
        "that an error in the rewritten question costs passages and does not change what is answered.",
    )
    keep: int = Field(default=10, ge=1, le=MAX_K, description="At most this many passages of the union are read.")
    paths: int = Field(
        default=1, ge=1, le=16, description="Answers that are sampled and voted on; 1: one answer, not sampled."
    )
    temperature: float = Field(default=0.7, ge=0, le=2, description="Of the sampled answers, if there are several.")
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "sparse",
            "k": 10,
            "denoise": True,
            "decompose": True,
            "max_intents": 0,
            "rerank": True,
            "rerank_by": "rewritten",
            "generate_from": "original",
            "keep": 10,
            "paths": 1,
            "memory": True,
        }
    )


class Omni:
    """Made for questions as people type them: misspelt, vague, and several in one."""

    def __init__(self, config: Config, reranker: Reranker | None, embedder: Embedder) -> None:
        self._config = config
        self._reranker = reranker
        self._embedder = embedder

    async def solve(self, session: Session) -> Answer:
        question = session.question.text
        rewritten = await denoise(session, question) if self._config.denoise else question
        queries: tuple[str, ...] = (rewritten,)
        if self._config.decompose:
            queries = await split_intents(session, rewritten, self._config.max_intents)
        planned = [PlannedStep(id=str(number), question=query) for number, query in enumerate(queries, start=1)]
        last = PlannedStep(id=_LAST, question=rewritten, parents=tuple(step.id for step in planned), depth=1)
        session.plan([*planned, last])
        found = await gather(self._retrieve(session, step) for step in planned)
        against = rewritten if self._config.rerank_by == "rewritten" else question
        passages = await self._rerank(session, against, fuse_rankings([result.hits for result in found]))
        facts = tuple(dict.fromkeys(fact for result in found for fact in result.facts))
        answered = question if self._config.generate_from == "original" else rewritten
        return await self._conclude(session, answered, passages, facts, last)

    async def _retrieve(self, session: Session, planned: PlannedStep) -> SearchResult:
        async with session.step(planned.id, planned.question):
            private = False if planned.question == session.question.text else None
            k = session.question.k or self._config.k
            return await session.search_fully(planned.question, k, step=planned.id, private=private)

    async def _rerank(self, session: Session, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Returns the best passages of the union. Equal scores, and all passages without a reranker, keep its order."""
        if self._config.rerank and self._reranker is None:
            session.trace.note(_UNRANKED)
        if not self._config.rerank or self._reranker is None:
            return tuple(hits[: self._config.keep])
        with session.trace.timed("rerank"):
            scores = await self._reranker.rank(question, [passage_text(hit) for hit in hits])
        order = sorted(range(len(hits)), key=lambda place: -scores[place])
        return tuple(hits[place] for place in order[: self._config.keep])

    async def _conclude(
        self,
        session: Session,
        question: str,
        passages: tuple[Hit, ...],
        facts: tuple[Fact, ...],
        planned: PlannedStep,
    ) -> Answer:
        async with session.step(_LAST, planned.question, parents=planned.parents, depth=planned.depth) as step:
            conclusion = await self._generate(session, question, passages, facts)
            step.hits = passages
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)

    async def _generate(
        self, session: Session, question: str, passages: tuple[Hit, ...], facts: tuple[Fact, ...]
    ) -> Conclusion:
        paths = self._config.paths
        if paths == 1:
            return await conclude(session, question, passages, facts=facts, thinking=True, step=_LAST)
        drafts = await gather(
            conclude(
                session,
                question,
                passages,
                facts=facts,
                thinking=True,
                step=_LAST,
                sample=sample,
                temperature=self._config.temperature,
            )
            for sample in range(1, paths + 1)
        )
        return await vote(drafts, self._embedder)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    if config.preset == "paper" and config.rerank:
        check_reranker("omni", backends)
    solve = Omni(config, backends.reranker, backends.embedder).solve
    return SessionReasoner("omni", backends, config.searcher, solve, memory=config.memory)

"""Query decomposition: independent sub-questions, answered one after the other, then one answer from all of them."""

import time
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.answer import KnownAnswer, answer
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.planning.split_question import split_question
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "Decompose", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2410.20753"
_NAME = "decompose"
_LAST = "answer"
_UNFOUND = "(the passages do not hold it)"


class Config(StrategyConfig):
    """How the question is split, and what each part is answered from."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` goes before it.")
    retrieve: Literal["query", "node"] = Field(
        default="query", description="`query`: one retrieval with the question; `node`: each sub-question its own."
    )
    max_questions: int = Field(default=5, ge=1, le=20, description="At most this many sub-questions are answered.")


class Decompose:
    """As Plan*RAG's authors run it beside theirs: no part needs another's answer, and each is shown the earlier."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        question = session.question
        parts = await split_question(session, question.text, self._config.max_questions)
        ids = [str(number) for number in range(1, len(parts) + 1)]
        planned = [
            PlannedStep(id=id, question=part, parents=tuple(ids[:depth]), depth=depth)
            for depth, (id, part) in enumerate(zip(ids, parts, strict=True))
        ]
        last = PlannedStep(id=_LAST, question=question.text, parents=tuple(ids), depth=len(ids))
        session.plan([*planned, last])
        shared = None
        if self._config.retrieve == "query":
            shared = await session.search(question.text, self._k(session), private=False)
        chain: list[KnownAnswer] = []
        for one in planned:
            chain.append(await self._part(session, one, shared, [known for known in chain if known.answer != _UNFOUND]))
        if all(known.answer == _UNFOUND for known in chain):
            return abstention(_NAME, session)
        return await self._conclude(session, chain, last)

    async def _part(
        self, session: Session, planned: PlannedStep, shared: tuple[Hit, ...] | None, known: list[KnownAnswer]
    ) -> KnownAnswer:
        began = time.perf_counter()
        passages = shared
        if passages is None:
            passages = await session.search(
                planned.question, self._k(session), step=planned.id, private=session.planned_in_private
            )
        said = await answer(session, planned.question, passages, step=planned.id, known=known)
        session.answered(
            Step(
                id=planned.id,
                question=planned.question,
                hits=passages,
                answer=said.text if said.sufficient else "",
                parents=planned.parents,
                depth=planned.depth,
                verdict="" if said.sufficient else "insufficient",
                quotes=said.quotes,
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(planned.id),
            )
        )
        if not said.sufficient:
            return KnownAnswer(question=planned.question, answer=_UNFOUND)
        return KnownAnswer(question=planned.question, answer=said.text, quotes=said.quotes)

    async def _conclude(self, session: Session, chain: list[KnownAnswer], planned: PlannedStep) -> Answer:
        began = time.perf_counter()
        said = await conclude_steps(session, planned.question, chain, step=_LAST)
        session.answered(
            Step(
                id=_LAST,
                question=planned.question,
                hits=(),
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

    def _k(self, session: Session) -> int:
        return session.question.k or self._config.k


def build(config: Config, backends: Backends) -> Reasoner:
    return Decompose(config, backends)

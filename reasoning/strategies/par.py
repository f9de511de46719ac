"""PAR RAG: plan once, answer step by step, and review every step's answer with finer evidence before the next.

Algorithm 1 of the paper. What is not in it is off by default and says so in its description.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.answer import Cited, KnownAnswer, answer
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.planning.plan import PlanItem, plan
from reasoning.actions.planning.refine import refine
from reasoning.citations.quoting import supported
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.plans.chains import chunks_of, known_of
from reasoning.shared.reviewing import ANSWERED, INSUFFICIENT, Reviewing, reviewed

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "PlanActReview", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2504.16787"

_NAME = "par"
_NOTHING = Cited(text="", sufficient=False, cited=(), shown=())


class Config(StrategyConfig):
    """The paper's parameters with its values, its two ablations, and options that cut its cost."""

    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` goes before it.")
    plan: bool = Field(default=True, description="false: the question is the only step (the paper's ablation).")
    review: bool = Field(
        default=True, description="false: preliminary answers are kept as they are (the paper's ablation)."
    )
    review_rounds: int = Field(
        default=0,
        ge=0,
        le=10,
        description="How often an UNCONFIDENT review is repeated with what its question finds; 0: the answer is kept.",
    )
    skip_answer_retrieval: bool = Field(
        default=False, description="Answer a step whose planned action is Answer from the steps before it alone."
    )
    skip_supported: bool = Field(
        default=False, description="Leave out the review of an answer that a passage it cites holds word for word."
    )
    max_steps: int = Field(default=10, ge=1, le=50, description="A longer plan is cut, and a note says so.")
    fine: str = Field(default="fine", description="NAME[:key=value] of the searcher that starts from entities.")
    searcher: str = Field(default="", description="NAME[:key=value] of the coarse searcher; empty: the request's.")


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A step whose question is settled. `private`: the question may hold words of passages."""

    id: str
    question: str
    needs_passages: bool
    private: bool


class PlanActReview:
    """Works over any two searchers: a coarse one for questions and answers, and a fine one for the review."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)
        self._fine = backends.named_searcher(config.fine)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        chain: list[KnownAnswer] = []
        for number, item in enumerate(await self._planned(session), start=1):
            began = time.perf_counter()
            task = await self._settled(session, str(number), item, chain)
            chain.append(known_of(await self._taken(session, task, chain, began)))
        if not any(step.hits or step.answer for step in session.steps.values()):
            return abstention(_NAME, session)
        said = await conclude_steps(session, session.question.text, chain)
        if not said.text:
            return abstention(_NAME, session, shown=said.shown)
        return finished(_NAME, session, said.text, said.citations, said.shown)

    async def _planned(self, session: Session) -> Sequence[PlanItem]:
        asked = session.question.text
        items: Sequence[PlanItem] = (PlanItem.model_construct(question=asked, action="Retrieve"),)
        if self._config.plan:
            items = await plan(session, asked)
        most = self._config.max_steps
        if len(items) > most:
            session.trace.note(f"plan: {len(items)} steps were planned; those after the first {most} were left out")
        ids = [str(number) for number in range(1, len(items) + 1)][:most]
        session.plan(
            [
                PlannedStep(id=id, question=item.question, parents=tuple(ids[:place]), depth=place)
                for place, (id, item) in enumerate(zip(ids, items, strict=False))
            ]
        )
        return items[:most]

    async def _settled(self, session: Session, id: str, item: PlanItem, chain: Sequence[KnownAnswer]) -> _Task:
        needs_passages = item.action == "Retrieve" or not chain or not self._config.skip_answer_retrieval
        if not chain:
            private = self._config.plan and session.planned_in_private
            return _Task(id=id, question=item.question, needs_passages=needs_passages, private=private)
        question = await refine(session, session.question.text, item.question, chain, step=id)
        return _Task(id=id, question=question, needs_passages=needs_passages, private=True)

    async def _taken(self, session: Session, task: _Task, chain: Sequence[KnownAnswer], began: float) -> Step:
        """Act and review. The preliminary answer is recorded too: should the budget end in the review, it is there."""
        said = await self._acted(session, task, chain)
        step = self._recorded(session, task, said, ANSWERED if said.sufficient else INSUFFICIENT, began)
        if not (self._config.review and task.needs_passages):
            return step
        if self._config.skip_supported and said.sufficient and supported(said.text, said.cited):
            return self._recorded(session, task, said, "supported", began)
        how = Reviewing(k=session.question.k or self._config.k, fine=self._fine, rounds=self._config.review_rounds)
        said, verdict = await reviewed(session, task.question, said, how, step=task.id, chunks=chunks_of(chain))
        return self._recorded(session, task, said, verdict, began)

    async def _acted(self, session: Session, task: _Task, chain: Sequence[KnownAnswer]) -> Cited:
        """The preliminary answer: from the step's passages alone, or, where the step needs none, from the chain."""
        if not task.needs_passages:
            return await answer(session, task.question, (), step=task.id, known=chain)
        k = session.question.k or self._config.k
        hits = await session.search(task.question, k, step=task.id, private=task.private)
        return await answer(session, task.question, hits, step=task.id) if hits else _NOTHING

    def _recorded(self, session: Session, task: _Task, said: Cited, verdict: str, began: float) -> Step:
        parents = tuple(id for id in session.steps if id != task.id)
        step = Step(
            id=task.id,
            question=task.question,
            hits=session.found(task.id),
            answer=said.text if said.sufficient else "",
            parents=parents,
            depth=len(parents),
            verdict=verdict,
            quotes=said.quotes if said.sufficient else (),
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(task.id),
        )
        session.answered(step)
        return step


def build(config: Config, backends: Backends) -> Reasoner:
    return PlanActReview(config, backends)

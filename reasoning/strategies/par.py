"""PAR RAG: plans once, answers step by step, and reviews the answer of each step with finer evidence.

This is algorithm 1 of the paper. Options that it does not have are off by default, and their descriptions say so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner, Support
from core.ports.retrieval import MAX_K, Searcher
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.answer import NO_ANSWER, CitedAnswer, answer, fill_step
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.planning.plan import PlanItem, plan
from reasoning.actions.planning.refine import refine
from reasoning.citations.quotes import is_supported
from reasoning.engine.answers import abstain, answer_from_conclusion
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.presets import memory_field, require_triples
from reasoning.engine.reasoner import SessionReasoner, Solve
from reasoning.engine.session import Session
from reasoning.engine.steps import OpenStep
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, known_answer
from reasoning.shared.review_loop import ReviewSettings, review_answer

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "PlanActReview", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2504.16787"


class Config(StrategyConfig):
    """The paper's parameters with its values, its two ablations, and options that cut its cost."""

    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    plan: bool = Field(default=True, description="false: the question is the only step (the paper's ablation).")
    review: bool = Field(
        default=True, description="false: preliminary answers are kept as they are (the paper's ablation)."
    )
    review_rounds: int = Field(
        default=0,
        ge=0,
        le=10,
        description="How often an UNCONFIDENT review is repeated with the passages that its question finds; 0: never.",
    )
    skip_answer_retrieval: bool = Field(
        default=False, description="Answer a step whose planned action is Answer from the steps before it alone."
    )
    skip_supported: bool = Field(
        default=False, description="Do not review an answer that a cited passage holds word for word."
    )
    max_steps: int = Field(default=10, ge=1, le=50, description="A longer plan is cut, and a note says so.")
    fine: str = Field(default="fine", description="NAME[:key=value] of the searcher that starts from entities.")
    searcher: str = Field(
        default="", description="NAME[:key=value] of the coarse searcher; empty: the request's searcher."
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "fine": "fine",
            "k": 10,
            "plan": True,
            "review": True,
            "review_rounds": 0,
            "skip_answer_retrieval": False,
            "skip_supported": False,
            "memory": True,
        }
    )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A step whose question holds no references any more. If `private`, it may hold words of passages."""

    id: str
    question: str
    needs_passages: bool
    private: bool


class PlanActReview:
    """Uses two searchers: a coarse one for questions and answers, and a fine one for the review."""

    def __init__(self, config: Config, fine: tuple[str, Searcher]) -> None:
        self._config = config
        self._fine = fine

    async def solve(self, session: Session) -> Answer:
        chain: list[KnownAnswer] = []
        for number, item in enumerate(await self._plan(session), start=1):
            id, earlier = str(number), tuple(session.steps)
            async with session.step(id, item.question, parents=earlier, depth=len(earlier)) as step:
                task = await self._refine(session, id, item, chain)
                step.question = task.question
                await self._take_step(session, step, task, chain)
            chain.append(known_answer(session.steps[id]))
        if not any(step.hits or step.answer for step in session.steps.values()):
            return abstain(session)
        return answer_from_conclusion(session, await conclude_steps(session, session.question.text, chain))

    async def _plan(self, session: Session) -> Sequence[PlanItem]:
        question = session.question.text
        items: Sequence[PlanItem] = (PlanItem.model_construct(question=question, action="Retrieve"),)
        if self._config.plan:
            items = await plan(session, question)
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

    async def _refine(self, session: Session, id: str, item: PlanItem, chain: Sequence[KnownAnswer]) -> _Task:
        needs_passages = item.action == "Retrieve" or not chain or not self._config.skip_answer_retrieval
        if not chain:
            private = self._config.plan and session.has_history
            return _Task(id=id, question=item.question, needs_passages=needs_passages, private=private)
        question = await refine(session, session.question.text, item.question, chain, step=id)
        return _Task(id=id, question=question, needs_passages=needs_passages, private=True)

    async def _take_step(self, session: Session, step: OpenStep, task: _Task, chain: Sequence[KnownAnswer]) -> None:
        """Acts and reviews. The preliminary answer is recorded too, so that it is there if the budget ends in the
        review.
        """
        preliminary = await self._act(session, task, chain)
        fill_step(step, preliminary)
        if not (self._config.review and task.needs_passages):
            return
        session.record(step)
        if (
            self._config.skip_supported
            and preliminary.support is Support.STATED
            and is_supported(preliminary.text, preliminary.cited)
        ):
            return
        k = session.question.k or self._config.k
        settings = ReviewSettings(k=k, fine=self._fine, rounds=self._config.review_rounds)
        chunks = chunk_ids_of(chain)
        reviewed, step.verdict = await review_answer(
            session, task.question, preliminary, settings, step=task.id, chunks=chunks
        )
        fill_step(step, reviewed)

    async def _act(self, session: Session, task: _Task, chain: Sequence[KnownAnswer]) -> CitedAnswer:
        """Returns the preliminary answer: from the step's passages alone, or, if it needs none, from the chain."""
        if not task.needs_passages:
            return await answer(session, task.question, (), step=task.id, known=chain)
        k = session.question.k or self._config.k
        hits = await session.search(task.question, k, step=task.id, private=task.private)
        return await answer(session, task.question, hits, step=task.id) if hits else NO_ANSWER


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    solve: Solve = PlanActReview(config, backends.named_searcher(config.fine)).solve
    if config.preset == "paper":
        solve = require_triples("par", backends, solve)
    return SessionReasoner("par", backends, config.searcher, solve, memory=config.memory)

"""Query decomposition: independent sub-questions, answered one after the other, then one answer from all of them."""

from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.answer import answer
from reasoning.actions.answers.answer import fill_step as fill_answer
from reasoning.actions.answers.conclude import conclude, conclude_steps
from reasoning.actions.planning.split import split_question
from reasoning.engine.answers import abstain, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, known_answer

NEEDS_MODEL = True
SOURCE = "arXiv 2410.20753"
_LAST = "answer"


class Config(StrategyConfig):
    """How the question is split, and what each part is answered from."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    retrieve: Literal["query", "node"] = Field(
        default="query", description="`query`: one retrieval with the question; `node`: each sub-question its own."
    )
    max_questions: int = Field(default=5, ge=1, le=20, description="At most this many sub-questions are answered.")
    shortcut: bool = Field(
        default=True,
        description="A question that is not split is answered in one call; false: it is its own only sub-question, and "
        "the last call follows as for any other.",
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "k": 5,
            "retrieve": "query",
            "max_questions": 20,
            "shortcut": False,
            "memory": True,
        }
    )


class Decompose:
    """As the authors of Plan*RAG run it for comparison: no part needs another's answer, but each reads the earlier."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        question = session.question
        parts = await split_question(session, question.text, self._config.max_questions)
        if len(parts) == 1 and self._config.shortcut:
            return await self._answer_undivided(session)
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
        for part in planned:
            known = [earlier for earlier in chain if earlier.answer != UNKNOWN]
            chain.append(await self._answer_part(session, part, shared, known))
        if not session.permits_memory and all(known.answer == UNKNOWN for known in chain):
            return abstain(session, unstated=chain[0].unstated)
        return await self._conclude(session, chain, last)

    async def _answer_undivided(self, session: Session) -> Answer:
        """Answers a question that asks for one fact in one step, as `vanilla` does: there is nothing to combine."""
        text = session.question.text
        session.plan([PlannedStep(id="1", question=text)])
        async with session.step("1", text) as step:
            passages = await session.search(text, self._k(session), step="1", private=False)
            conclusion = await conclude(session, text, passages, step="1")
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)

    async def _answer_part(
        self, session: Session, planned: PlannedStep, shared: tuple[Hit, ...] | None, known: list[KnownAnswer]
    ) -> KnownAnswer:
        async with session.step(planned.id, planned.question, parents=planned.parents, depth=planned.depth) as step:
            passages = shared
            if passages is None:
                private = None if session.has_history else False  # the splitter is shown the question alone
                passages = await session.search(planned.question, self._k(session), step=planned.id, private=private)
            reply = await answer(session, planned.question, passages, step=planned.id, known=known)
            step.hits = passages
            fill_answer(step, reply)
        return known_answer(session.steps[planned.id])

    async def _conclude(self, session: Session, chain: list[KnownAnswer], planned: PlannedStep) -> Answer:
        async with session.step(_LAST, planned.question, parents=planned.parents, depth=planned.depth) as step:
            conclusion = await conclude_steps(session, planned.question, chain, step=_LAST)
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)

    def _k(self, session: Session) -> int:
        return session.question.k or self._config.k


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("decompose", backends, config.searcher, Decompose(config).solve, memory=config.memory)

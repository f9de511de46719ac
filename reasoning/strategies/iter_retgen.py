"""ITER-RETGEN: retrieves with the last generation and the question, generates again from what this finds, and so on."""

from typing import Literal

from pydantic import Field

from core.errors import BudgetExhausted
from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.conclude import conclude
from reasoning.citations.markers import strip_markers
from reasoning.engine.answers import Conclusion, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session

NEEDS_MODEL = True
SOURCE = "arXiv 2305.15294"
_LAST = "answer"
_LONGEST = 2000
"""Characters of a generation that are searched with; embedding models read little more."""


class Config(StrategyConfig):
    """How often is retrieved and generated, and how much each retrieval finds."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    iterations: int = Field(
        default=2, ge=1, le=50, description="Retrievals, each with a generation after it (the paper: 1 to 7)."
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(paper={"searcher": "dense", "k": 5, "iterations": 2, "memory": True})


class IterRetgen:
    """A generation shows what might be needed to answer the question, and so it is a query. Each generation reads the
    passages of its own retrieval only, as in the paper (section 3.1).
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        ids = [*(str(number) for number in range(1, self._config.iterations)), _LAST]
        text = session.question.text
        conclusion = Conclusion()
        for depth, id in enumerate(ids):
            planned = PlannedStep(id=id, question=text, parents=tuple(ids[:depth][-1:]), depth=depth)
            try:
                conclusion = await self._iterate(session, planned, conclusion)
            except BudgetExhausted as error:
                if not conclusion.text:
                    raise
                session.trace.note(
                    f"the budget was used up: {error}; left out: iterations from {depth + 1} to {len(ids)}"
                )
                break
        return answer_from_conclusion(session, conclusion)

    async def _iterate(self, session: Session, planned: PlannedStep, last: Conclusion) -> Conclusion:
        """Retrieves with the question and the last generation, if any, and generates from the passages."""
        session.plan([planned])
        generation = _format_generation(last)
        query = f"{generation} {planned.question}" if generation else planned.question
        async with session.step(planned.id, planned.question, parents=planned.parents, depth=planned.depth) as step:
            k = session.question.k or self._config.k
            hits = await session.search(query, k, step=planned.id, private=None if generation else False)
            draft = 0 if planned.id == _LAST else planned.depth + 1
            conclusion = await conclude(session, planned.question, hits, thinking=True, step=planned.id, sample=draft)
            fill_step(step, conclusion)
        return conclusion


def _format_generation(conclusion: Conclusion) -> str:
    """Returns the chain of thought and the answer without their markers, on one line."""
    text = strip_markers(f"{conclusion.thoughts} {conclusion.text}")
    return " ".join(text.split())[:_LONGEST]


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("iter_retgen", backends, config.searcher, IterRetgen(config).solve, memory=config.memory)

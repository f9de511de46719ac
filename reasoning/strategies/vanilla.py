"""One retrieval with the question, one answer from its passages: plain retrieval-augmented generation."""

from pydantic import Field

from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from reasoning.actions.answers.conclude import conclude
from reasoning.engine.answers import answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner
from reasoning.engine.session import Session

NEEDS_MODEL = True


class Config(StrategyConfig):
    """What is retrieved, and how it is read."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages; the request's `k` takes precedence.")
    thinking: bool = Field(default=False, description="Ask for a chain of thought before the answer (`cot`).")


class Vanilla:
    """The baseline that every other reasoner is measured against."""

    def __init__(self, k: int, *, thinking: bool) -> None:
        self._k = k
        self._thinking = thinking

    async def solve(self, session: Session) -> Answer:
        question = session.question
        async with session.step("1", question.text) as step:
            hits = await session.search(question.text, question.k or self._k, step="1", private=False)
            conclusion = await conclude(session, question.text, hits, thinking=self._thinking, step="1")
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("vanilla", backends, config.searcher, Vanilla(config.k, thinking=config.thinking).solve)

"""One retrieval with the question, one answer from what it brought: plain retrieval-augmented generation."""

import time

from pydantic import Field

from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import conclude
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session

__all__ = ["NEEDS_MODEL", "Config", "Vanilla", "build"]

NEEDS_MODEL = True


class Config(StrategyConfig):
    """What is retrieved, and how much of it is read."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages; the request's `k` goes before it.")
    thinking: bool = Field(default=False, description="Ask for a chain of thought before the answer (`cot`).")


class Vanilla:
    """The baseline that every other strategy is measured against."""

    def __init__(self, config: Config, backends: Backends, name: str = "vanilla") -> None:
        self._config = config
        self._name = name
        self._models = backends.chat(name)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(self._name, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        question, began = session.question, time.monotonic()
        hits = await session.search(question.text, question.k or self._config.k, step="1", private=False)
        said = await conclude(session, question.text, hits, thinking=self._config.thinking, step="1")
        session.answered(
            Step(
                id="1",
                question=question.text,
                hits=hits,
                answer=said.text,
                seconds=time.monotonic() - began,
                tokens=session.tokens_of("1"),
            )
        )
        if not said.text:
            return abstention(self._name, session, shown=said.shown)
        return finished(self._name, session, said.text, said.citations, said.shown)


def build(config: Config, backends: Backends) -> Reasoner:
    return Vanilla(config, backends)

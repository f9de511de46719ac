"""No retrieval: the model answers from memory, and nothing is cited."""

from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude_memory import conclude_memory
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session

__all__ = ["NEEDS_MODEL", "Config", "Direct", "build"]

NEEDS_MODEL = True
_NAME = "direct"
_NOTE = "direct: answered from the model's memory; nothing is cited"
_UNKNOWN = "The model says that it does not know."


class Config(StrategyConfig):
    """Nothing to set."""


class Direct:
    """The baseline that tells what a model knows without the corpus."""

    def __init__(self, backends: Backends) -> None:
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher("")

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        question = session.question.text
        session.trace.note(_NOTE)
        text = await conclude_memory(session, question, step="1")
        session.answered(Step(id="1", question=question, hits=(), answer=text, tokens=session.tokens_of("1")))
        return finished(_NAME, session, text) if text else abstention(_NAME, session, _UNKNOWN)


def build(config: Config, backends: Backends) -> Reasoner:  # noqa: ARG001  # the signature of all strategies
    return Direct(backends)

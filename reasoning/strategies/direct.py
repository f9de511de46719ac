"""No retrieval: the model answers from memory, and nothing is cited."""

from core.ports.reasoning import Answer, Reasoner, Support
from core.strategies import StrategyConfig
from reasoning.actions.answers.conclude import conclude_memory
from reasoning.engine.answers import abstain, make_answer
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner
from reasoning.engine.session import Session

NEEDS_MODEL = True
_NOTE = "direct: answered from the model's memory; nothing is cited"
_UNKNOWN = "The model says that it does not know."


class Config(StrategyConfig):
    """There are no options."""


async def solve(session: Session) -> Answer:
    """The baseline that shows what a model knows without the corpus."""
    question = session.question.text
    session.trace.note(_NOTE)
    async with session.step("1", question) as step:
        step.answer = await conclude_memory(session, question, step="1")
        step.support = Support.MEMORY if step.answer else Support.NONE
    return make_answer(session, step.answer, step.support) if step.answer else abstain(session, _UNKNOWN)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:  # noqa: ARG001  # the signature of all strategies
    return SessionReasoner("direct", backends, "", solve, uses=())

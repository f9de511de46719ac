"""`restate` makes a question of a conversation self-contained. Services call it before a reasoner."""

from core.ports.chat import ChatModels
from core.ports.reasoning import Question
from core.ports.retrieval import Searcher
from core.trace import Trace
from reasoning.actions.queries.restate_question import restate_question
from reasoning.engine.session import Session

__all__ = ["restate"]


async def restate(question: Question, models: ChatModels, searcher: tuple[str, Searcher], trace: Trace) -> str | None:
    """Returns the text of the question without references to its history, or None if the model's reply cannot be used.
    Raises as a call of a model does.

    `searcher` is the searcher of the reasoner that answers afterwards; nothing is searched here.
    """
    return await restate_question(Session("conversation", question, models, searcher, trace))

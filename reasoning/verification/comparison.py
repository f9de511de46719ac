"""`make_comparison`: asks the model of the role `same_answer` whether two answers are the same."""

from core.ports.chat import ChatModels
from core.ports.reasoning import Question
from core.ports.retrieval import Searcher
from core.trace import Trace
from reasoning.actions.judging.judgements import same_answer
from reasoning.engine.session import Session
from reasoning.verification.verifier import Compare

__all__ = ["make_comparison"]


def make_comparison(question: Question, models: ChatModels, searcher: tuple[str, Searcher]) -> Compare:
    """Returns the comparison of answers to a question. `searcher` is that of the reasoner; nothing is searched."""

    async def compare(first: str, second: str, chunks: frozenset[str], trace: Trace) -> bool | None:
        session = Session("verification", question, models, searcher, trace)
        return await same_answer(session, question.text, first, second, chunks)

    return compare

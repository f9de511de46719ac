"""How a session ends: the answers that reasoners return, from a conclusion or a step, or as an abstention."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import Span
from core.ports.reasoning import Answer, Citation, Step
from reasoning.citations.markers import make_citation
from reasoning.citations.quotes import passage_text
from reasoning.engine.session import Session

__all__ = ["Conclusion", "abstain", "answer_from_conclusion", "answer_from_step", "make_answer"]

_NOT_FOUND = "The passages that were found do not hold the answer."


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The outcome of a last call: `text` with its markers, or '' if the sources do not hold the answer.

    `shown` are the texts that the model read.
    """

    text: str
    citations: tuple[Citation, ...]
    shown: tuple[str, ...]


def answer_from_conclusion(session: Session, conclusion: Conclusion) -> Answer:
    """Returns the conclusion as the answer, or an abstention if it is empty."""
    if not conclusion.text:
        return abstain(session, shown=conclusion.shown)
    return make_answer(session, conclusion.text, conclusion.citations, conclusion.shown)


def answer_from_step(session: Session, step: Step) -> Answer:
    """Returns the step's answer as the answer to the question, followed by a marker for each of its quotes."""
    text = step.answer.strip()
    span = Span(start=0, end=len(text))
    citations = tuple(make_citation(marker, quote, span) for marker, quote in enumerate(step.quotes, start=1))
    markers = "".join(f" [{citation.marker}]" for citation in citations)
    return make_answer(session, text + markers, citations, tuple(passage_text(hit) for hit in step.hits))


def make_answer(session: Session, text: str, citations: Sequence[Citation] = (), shown: Sequence[str] = ()) -> Answer:
    """Returns an answer with all steps of the session. `shown` are the texts that the last call read."""
    return Answer(
        text=text,
        reasoner=session.reasoner,
        citations=tuple(citations),
        steps=tuple(session.steps.values()),
        shown=tuple(shown),
    )


def abstain(session: Session, text: str = _NOT_FOUND, shown: Sequence[str] = ()) -> Answer:
    """Returns an answer that says that none was found, with all steps of the session."""
    return Answer(
        text=text, reasoner=session.reasoner, steps=tuple(session.steps.values()), abstained=True, shown=tuple(shown)
    )

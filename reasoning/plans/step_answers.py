"""A step's own answer as the answer to the question, with the quotes that it stands on."""

from core.documents import Span
from core.ports.reasoning import Answer, Step
from reasoning.citations.citing import citation
from reasoning.engine.session import Session

__all__ = ["answer_of_step"]


def answer_of_step(name: str, session: Session, step: Step) -> Answer:
    """The step's answer, a marker after it for each of its quotes."""
    text = step.answer.strip()
    span = Span(start=0, end=len(text))
    citations = tuple(citation(marker, quote, span) for marker, quote in enumerate(step.quotes, start=1))
    markers = "".join(f" [{one.marker}]" for one in citations)
    return Answer(
        text=text + markers,
        reasoner=name,
        citations=citations,
        steps=tuple(session.steps.values()),
        shown=tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in step.hits),
    )

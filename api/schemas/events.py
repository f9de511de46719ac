"""What happens on the way to an answer, over the wire: the data of each kind of event."""

from pydantic import Field

from api.schemas.ask import DocumentNameOut, QuoteOut, quote_out
from api.schemas.base import Out
from core.events import NoteEvent, PlanEvent, ReviewEvent, SearchEvent, StepEvent, TokenEvent
from core.ports.reasoning import Step
from core.trace import Event

__all__ = ["DATA", "event_out"]


class _EventOut(Out):
    step: str = Field(description="The id of the step that it belongs to; empty: the question as a whole.")


class PlannedStepOut(Out):
    """`question` may hold tags that stand for answers of its `parents`."""

    id: str
    question: str
    parents: list[str]
    depth: int


class PlanOut(_EventOut):
    """The steps as they are planned; a later plan stands in for the steps that it names again."""

    steps: list[PlannedStepOut]


class FoundOut(Out):
    """A passage that was found; its text is in the answer's `steps`."""

    chunk_id: str | None
    url: str | None
    document: DocumentNameOut
    score: float


class SearchedOut(_EventOut):
    """What was looked for, where, and what came back, best first."""

    query: str
    searcher: str
    hits: list[FoundOut]


class StepDoneOut(_EventOut):
    """A step's answer; a later one of the same step takes its place."""

    question: str
    parents: list[str]
    depth: int
    answer: str
    verdict: str
    quotes: list[QuoteOut]
    seconds: float
    tokens: int


class ReviewOut(_EventOut):
    """What a check of a step's answer came to; `text` is the corrected answer or the question that remains."""

    verdict: str
    text: str


class TextOut(_EventOut):
    text: str


DATA: dict[str, type[Out]] = {
    "plan": PlanOut,
    "search": SearchedOut,
    "step": StepDoneOut,
    "review": ReviewOut,
    "token": TextOut,
    "note": TextOut,
}
"""By the name of the event; after them comes exactly one `answer` (an `AnswerOut`) or `error` (a problem)."""


def event_out(event: Event) -> Out | None:
    """The data of an event; None for a call, which the answer's usage counts, and for the answer, which has a shape."""
    match event:
        case PlanEvent():
            return PlanOut.model_validate(event)
        case SearchEvent():
            return _searched(event)
        case StepEvent():
            return _step_done(event.result)
        case ReviewEvent():
            return ReviewOut.model_validate(event)
        case TokenEvent() | NoteEvent():
            return TextOut.model_validate(event)
        case _:
            return None


def _searched(event: SearchEvent) -> SearchedOut:
    return SearchedOut(
        step=event.step,
        query=event.query,
        searcher=event.searcher,
        hits=[
            FoundOut(
                chunk_id=None if hit.url else hit.chunk.id,
                url=hit.url,
                document=DocumentNameOut.model_validate(hit.document),
                score=hit.score,
            )
            for hit in event.hits
        ],
    )


def _step_done(step: Step) -> StepDoneOut:
    return StepDoneOut(
        step=step.id,
        question=step.question,
        parents=list(step.parents),
        depth=step.depth,
        answer=step.answer,
        verdict=step.verdict,
        quotes=[quote_out(quote) for quote in step.quotes],
        seconds=step.seconds,
        tokens=step.tokens,
    )

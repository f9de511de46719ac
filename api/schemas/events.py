"""The events of a streamed answer: the data of each kind."""

from pydantic import Field

from api.schemas.ask import SUPPORT, DocumentNameOut, QuoteOut
from api.schemas.base import Out
from api.schemas.verification import VerdictEventOut, VerifyingOut
from app.services.links import Links
from core.events import NoteEvent, PlanEvent, ReviewEvent, SearchEvent, StepEvent, TokenEvent
from core.ports.reasoning import Step, Support
from core.trace import Event
from core.verification import VerdictEvent, VerifyingEvent

__all__ = ["DATA", "convert_event"]


class _EventOut(Out):
    step: str = Field(description="The id of the step that the event belongs to; empty for the question as a whole.")


class PlannedStepOut(Out):
    """`question` may hold tags that stand for the answers of its `parents`."""

    id: str
    question: str
    parents: list[str]
    depth: int


class PlanOut(_EventOut):
    """The planned steps. A later plan replaces the steps that it names again."""

    steps: list[PlannedStepOut]


class FoundOut(Out):
    """A retrieved passage; its text is in the answer's `steps`."""

    chunk_id: str | None
    url: str | None
    document: DocumentNameOut
    score: float


class SearchedOut(_EventOut):
    """A search: its query, its searcher, and the hits, best first."""

    query: str
    searcher: str
    hits: list[FoundOut]


class StepDoneOut(_EventOut):
    """A step's answer. A later event of the same step replaces it."""

    question: str
    parents: list[str]
    depth: int
    answer: str
    verdict: str
    support: Support = Field(description=SUPPORT)
    unstated: str
    quotes: list[QuoteOut]
    seconds: float
    tokens: int


class ReviewOut(_EventOut):
    """The outcome of a check of a step's answer; `text` is the corrected answer or the remaining question."""

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
    "verifying": VerifyingOut,
    "verification": VerdictEventOut,
}
"""The schema of an event's data by the event's name. Exactly one `answer` (an `AnswerOut`) or `error` (a problem)
follows them.
"""


def convert_event(event: Event, links: Links) -> Out | None:
    """Returns the data of an event; None for a call, which the answer's usage counts, and for what the answer has: the
    answer itself, and its whole verification.
    """
    match event:
        case PlanEvent():
            return PlanOut.model_validate(event)
        case SearchEvent():
            return _convert_search(event)
        case StepEvent():
            return _convert_step(event.result, links)
        case ReviewEvent():
            return ReviewOut.model_validate(event)
        case TokenEvent() | NoteEvent():
            return TextOut.model_validate(event)
        case VerifyingEvent():
            return VerifyingOut.from_event(event)
        case VerdictEvent():
            return VerdictEventOut.from_verdict(event.verdict)
        case _:
            return None


def _convert_search(event: SearchEvent) -> SearchedOut:
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


def _convert_step(step: Step, links: Links) -> StepDoneOut:
    return StepDoneOut(
        step=step.id,
        question=step.question,
        parents=list(step.parents),
        depth=step.depth,
        answer=step.answer,
        verdict=step.verdict,
        support=step.support,
        unstated=step.unstated,
        quotes=[QuoteOut.from_quote(quote, links) for quote in step.quotes],
        seconds=step.seconds,
        tokens=step.tokens,
    )

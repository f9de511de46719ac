"""The events of a streamed answer, made from the events of a trace."""

from api.schemas.ask import convert_quote, convert_verdict
from api.schemas.values import fill
from app.services.links import Links
from core.events import PlanEvent, ReviewEvent, SearchEvent, StepEvent, TokenEvent
from core.ports.retrieval import Hit
from core.trace import Event, NoteEvent
from core.verification import VerdictEvent, VerifyingEvent
from hopweave.wire import events as wire
from hopweave.wire.answers import DocumentName


def convert_event(event: Event, links: Links) -> wire.Event | None:
    """Returns the data of an event; None for a call, which the answer's usage counts, and for what the answer has: the
    answer itself, and its whole verification.
    """
    match event:
        case PlanEvent() | ReviewEvent() | TokenEvent() | NoteEvent() | VerifyingEvent():
            return fill(wire.EVENTS[event.kind], event)
        case SearchEvent():
            return fill(wire.SearchEvent, event, hits=tuple(_convert_hit(hit) for hit in event.hits))
        case StepEvent():
            step = event.result
            quotes = tuple(convert_quote(quote, links) for quote in step.quotes)
            return fill(wire.StepEvent, step, step=step.id, quotes=quotes)
        case VerdictEvent():
            return fill(wire.VerificationEvent, convert_verdict(event.verdict), step=event.step)
        case _:
            return None


def _convert_hit(hit: Hit) -> wire.Found:
    return wire.Found(
        chunk_id=None if hit.url else hit.chunk.id,
        url=hit.url,
        document=fill(DocumentName, hit.document),
        score=float(hit.score),
    )

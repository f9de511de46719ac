"""The events of a streamed answer. The last one is the `Answer`."""

from dataclasses import dataclass, field
from typing import TypeAlias

from hopweave.wire.answers import SUPPORT, Answer, DocumentName, Quote, Support, Verdict, VerificationCost
from hopweave.wire.base import doc

__all__ = [
    "EVENTS",
    "Event",
    "Found",
    "NoteEvent",
    "PlanEvent",
    "PlannedStep",
    "ReviewEvent",
    "SearchEvent",
    "StepEvent",
    "TokenEvent",
    "VerificationEvent",
    "VerifyingEvent",
]

_STEP = "The id of the step that the event belongs to; empty for the question as a whole."
_WHOLE = "Empty: the event belongs to the question as a whole."
_COST = "What masking each document costs, estimated from what the answer took."


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedStep:
    """`question` may hold tags that stand for the answers of its `parents`."""

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanEvent:
    """The planned steps. A later plan replaces the steps that it names again."""

    step: str = field(metadata=doc(_STEP))
    steps: tuple[PlannedStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A retrieved passage; its text is in the answer's `steps`."""

    chunk_id: str | None
    url: str | None
    document: DocumentName
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEvent:
    """A search: its query, its searcher, and the hits, best first."""

    step: str = field(metadata=doc(_STEP))
    query: str
    searcher: str
    hits: tuple[Found, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEvent:
    """A step's answer. A later event of the same step replaces it."""

    step: str = field(metadata=doc(_STEP))
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str
    support: Support = field(metadata=doc(SUPPORT))
    unstated: str
    quotes: tuple[Quote, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewEvent:
    """The outcome of a check of a step's answer; `text` is the corrected answer or the remaining question."""

    step: str = field(metadata=doc(_STEP))
    verdict: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenEvent:
    """A piece of the answer's text, as the model writes it."""

    step: str = field(metadata=doc(_STEP))
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteEvent:
    """A remark about the way to the answer."""

    step: str = field(metadata=doc(_STEP))
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingEvent:
    """The verification of an answer begins: the answer that it is about, and what it is expected to cost."""

    step: str = field(metadata=doc(_WHOLE))
    answer: str = field(metadata=doc("The answer without markers. The whole answer comes with the event `answer`."))
    support: Support
    cost: VerificationCost = field(metadata=doc(_COST))


@dataclass(frozen=True, kw_only=True, slots=True)
class VerificationEvent(Verdict):
    """A document of the answer has a verdict. The answer replaces it, and may name more that replaces the document."""

    step: str = field(metadata=doc(_WHOLE))


Event: TypeAlias = (
    PlanEvent
    | SearchEvent
    | StepEvent
    | ReviewEvent
    | TokenEvent
    | NoteEvent
    | VerifyingEvent
    | VerificationEvent
    | Answer
)

EVENTS: dict[str, type[Event]] = {
    "plan": PlanEvent,
    "search": SearchEvent,
    "step": StepEvent,
    "review": ReviewEvent,
    "token": TokenEvent,
    "note": NoteEvent,
    "verifying": VerifyingEvent,
    "verification": VerificationEvent,
    "answer": Answer,
}
"""By the name of the server-sent event. After any number of the others, an `Answer` or an error ends the stream."""

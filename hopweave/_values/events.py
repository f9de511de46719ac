"""Events on the way to an answer, as `ask_events` yields them; the last one is the `Answer`.

`step` is the id of the step that an event belongs to; it is empty for the question as a whole.
"""

from dataclasses import dataclass
from typing import TypeAlias

from hopweave._values.answers import Answer, DocumentName, Quote, Support
from hopweave._values.verification import AnswerWithout, DocumentRole, Replacement, VerificationCost, VerifiedDocument

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


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedStep:
    """`question` may hold tags that stand for answers of its `parents`."""

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanEvent:
    """The steps as they are planned; a later plan replaces the steps that it names again."""

    step: str
    steps: tuple[PlannedStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A passage that was found; its text is in the answer's `steps`."""

    chunk_id: str | None
    url: str | None
    document: DocumentName
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEvent:
    """A search: its query, its searcher, and its hits, best first."""

    step: str
    query: str
    searcher: str
    hits: tuple[Found, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEvent:
    """A step's answer; a later one of the same step replaces it."""

    step: str
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str
    support: Support
    unstated: str
    quotes: tuple[Quote, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewEvent:
    """The result of checking a step's answer; `text` is the corrected answer or the question that remains."""

    step: str
    verdict: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenEvent:
    """A piece of the answer's text, as the model writes it."""

    step: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteEvent:
    """A remark about the way to the answer."""

    step: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingEvent:
    """A verification begins: of which answer, without markers, and what it is expected to cost."""

    step: str
    answer: str
    support: Support
    cost: VerificationCost


@dataclass(frozen=True, kw_only=True, slots=True)
class VerificationEvent:
    """The verdict on a document, as a `Verdict`. The answer replaces it, and may name more replacements."""

    document: VerifiedDocument
    corpus: str
    role: DocumentRole
    markers: tuple[int, ...]
    without: AnswerWithout | None
    replaced_by: tuple[Replacement, ...]
    why: str
    step: str


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
"""By the name of the server-sent event."""

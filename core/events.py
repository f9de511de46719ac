"""What can happen on the way to an answer, each kind a value; `core.trace.Trace` records them."""

from dataclasses import dataclass
from typing import ClassVar

from core.ports.reasoning import Answer, Step
from core.ports.retrieval import Hit
from core.trace import NoteEvent

__all__ = [
    "AnswerEvent",
    "CallEvent",
    "NoteEvent",
    "PlanEvent",
    "PlannedStep",
    "ReviewEvent",
    "SearchEvent",
    "StepEvent",
    "TokenEvent",
]


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """A step that is going to be taken; `question` may hold tags that stand for answers of its `parents`."""

    id: str
    question: str
    parents: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, kw_only=True)
class PlanEvent:
    """The steps as they are planned. A later plan of the same question stands in for the steps that it names again."""

    kind: ClassVar[str] = "plan"
    steps: tuple[PlannedStep, ...]
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchEvent:
    """What a step looked for, where, and what came back, best first."""

    kind: ClassVar[str] = "search"
    query: str
    searcher: str
    hits: tuple[Hit, ...]
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class CallEvent:
    """A call of a model that ended, under the action that made it; what a failed one cost is not known."""

    kind: ClassVar[str] = "call"
    action: str
    model: str
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cached: bool = False
    failed: bool = False
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class StepEvent:
    """A step's answer; a later one of the same step takes its place."""

    kind: ClassVar[str] = "step"
    result: Step

    @property
    def step(self) -> str:
        return self.result.id


@dataclass(frozen=True, kw_only=True)
class ReviewEvent:
    """What a check of a step's answer came to; `text` is the corrected answer or the question that remains."""

    kind: ClassVar[str] = "review"
    verdict: str
    text: str = ""
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class TokenEvent:
    """A piece of the final answer, provisional: the answer's event has the last word."""

    kind: ClassVar[str] = "token"
    text: str
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerEvent:
    """The end."""

    kind: ClassVar[str] = "answer"
    answer: Answer
    step: str = ""

"""The events that a trace records on the way to an answer, one class each. Open it to add a kind of event."""

from dataclasses import dataclass
from typing import ClassVar

from core.ports.reasoning import Answer, Step
from core.ports.retrieval import Hit


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """A step that will be taken; `question` may contain tags that stand for answers of its `parents`."""

    id: str
    question: str
    parents: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, kw_only=True)
class PlanEvent:
    """Planned steps. Steps of a later plan of the same question replace those with the same id."""

    kind: ClassVar[str] = "plan"
    steps: tuple[PlannedStep, ...]
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchEvent:
    """A search of a step: the query, the searcher, and the hits, best first."""

    kind: ClassVar[str] = "search"
    query: str
    searcher: str
    hits: tuple[Hit, ...]
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class CallEvent:
    """A model call that ended, by the action that made it. The tokens of a failed call are unknown."""

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
    """The answer of a step; a later event of the same step replaces it."""

    kind: ClassVar[str] = "step"
    result: Step

    @property
    def step(self) -> str:
        return self.result.id


@dataclass(frozen=True, kw_only=True)
class ReviewEvent:
    """The result of checking a step's answer; `text` is the corrected answer or the question that remains.

    `before` is the answer that was checked and `after` the answer that resulted ('': none), so that verdicts can be
    compared with gold answers.
    """

    kind: ClassVar[str] = "review"
    verdict: str
    text: str = ""
    step: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class TokenEvent:
    """A piece of the final answer. It is provisional: the answer's event is final."""

    kind: ClassVar[str] = "token"
    text: str
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerEvent:
    """The final answer, the last event."""

    kind: ClassVar[str] = "answer"
    answer: Answer
    step: str = ""

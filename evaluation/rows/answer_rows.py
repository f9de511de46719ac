"""The row of one reasoner's answer to one question: all that is scored, judged and used again.

First come the rows within a row: steps, planned steps, reviews and prompts of one answer; and how stored rows are read.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter

from core.events import CallEvent, PlanEvent, PlannedStep
from core.ports.reasoning import Step
from core.text.names import normalise
from core.trace import Trace
from retrieval.supports import Support

_FINAL = "answer"
"""The id of the step that concludes, in all reasoners that have such a step."""

_LOOK = "Q0.1"
"""The id of the question itself in a plan of Plan*RAG's form: it is not a part of the question."""


_Row = TypeVar("_Row")


def read_row(reader: TypeAdapter[_Row], stored: Mapping[str, Any]) -> _Row:
    """Returns the row that was stored as JSON, with the rows in it.

    Raises `ValueError` if a field has another type than the row's, is unknown, or is missing; fields that rows of
    earlier releases lack have their defaults. Nothing is converted: "1" is no number.
    """
    row = reader.validate_json(json.dumps(stored), strict=True, extra="forbid")
    missing = sorted(_list_missing(reader.dump_python(row), stored))
    if missing:
        raise ValueError(f"a row lacks {', '.join(missing)}")
    return row


_ADDED_LATER = frozenset({"found", "models", "profile", "prompt_set", "reference_from"})
"""Fields that rows of earlier releases lack."""


def _list_missing(whole: Any, stored: Any) -> set[str]:
    """Returns the names of the fields of the row, and of rows in it, that were not stored."""
    missing: set[str] = set()
    if isinstance(whole, Mapping):
        missing.update(whole.keys() - stored.keys() - _ADDED_LATER)
        for name in whole.keys() & stored.keys():
            missing |= _list_missing(whole[name], stored[name])
    elif isinstance(whole, Sequence) and not isinstance(whole, str):
        for part, stored_part in zip(whole, stored, strict=True):
            missing |= _list_missing(part, stored_part)
    return missing


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One step with its answer. `found` are the supporting passages of the question that it retrieved."""

    id: str
    question: str
    answer: str
    depth: int
    parents: tuple[str, ...] = ()
    verdict: str = ""
    support: str = "none"
    unstated: str = ""
    found: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlannedRow:
    """One step as it was planned, with tags in place of answers that are not known yet."""

    id: str
    question: str
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReviewRow:
    """One review of a step's answer, with the F1 of the answers before and after it (None: no gold answer to it)."""

    step: str
    verdict: str
    before: str = ""
    after: str = ""
    before_f1: float | None = None
    after_f1: float | None = None


@dataclass(frozen=True, kw_only=True)
class PromptRow:
    """The calls of one role for one question, cached calls included; `longest` is the longest prompt, in tokens."""

    role: str
    calls: int = field(default=0)
    longest: int = field(default=0)


def find_hops(question: str, steps: Sequence[StepRow]) -> tuple[StepRow, ...]:
    """Returns the steps that answer parts of the question; empty if it was not divided.

    The step that concludes is not among them, nor the first look at the whole question.
    """
    if not steps or (len(steps) == 1 and normalise(steps[0].question) == normalise(question)):
        return ()
    inner = [step for step in steps if step.id != _FINAL]
    return tuple([step for step in inner if step.id != _LOOK] or inner)


def make_step(step: Step, supporting: Collection[Support]) -> StepRow:
    return StepRow(
        id=step.id,
        question=step.question,
        answer=step.answer,
        depth=step.depth,
        parents=step.parents,
        verdict=step.verdict,
        support=step.support.value,
        unstated=step.unstated,
        found=tuple(sorted(support.label for support in supporting if any(support.shown_by(hit) for hit in step.hits))),
    )


def make_plan(trace: Trace) -> tuple[PlannedRow, ...]:
    """Returns the planned steps, without the conclusion and the first look; empty if nothing else was planned."""
    planned: dict[str, PlannedStep] = {}
    for event in trace.events:
        if isinstance(event, PlanEvent):
            planned.update((step.id, step) for step in event.steps)
    left_out = (_FINAL, _LOOK)
    return tuple(
        PlannedRow(
            id=step.id,
            question=step.question,
            parents=tuple(parent for parent in step.parents if parent not in left_out),
        )
        for step in planned.values()
        if step.id not in left_out
    )


def make_prompts(trace: Trace) -> tuple[PromptRow, ...]:
    """Returns the calls by role, in the order of their first call. Failed calls have no known prompt."""
    rows: dict[str, PromptRow] = {}
    for event in trace.events:
        if isinstance(event, CallEvent):
            before = rows.get(event.action, PromptRow(role=event.action))
            longest = max(before.longest, event.prompt_tokens)
            rows[event.action] = PromptRow(role=event.action, calls=before.calls + 1, longest=longest)
    return tuple(rows.values())


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of model calls. `cached` calls cost nothing and are in no other number."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def of(cls, trace: Trace) -> Self:
        usage = trace.usage
        return cls(
            calls=usage.calls,
            cached=usage.cached,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
        )

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """The model of all roles (`role` is ''), or of a role that has another model or other parameters.

    `endpoint` is the kind of its server, such as `openai` or `ollama`. `temperature` None: each call has its own,
    which is 0 except for sampled drafts. `max_output_tokens` None: the endpoint's own limit. `profile` is `small` or
    `large`: what the model is asked for.
    """

    name: str
    endpoint: str = ""
    role: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    profile: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """The answer of a reasoner to one question.

    `answer` is without the markers of its citations. `retrieved` are the keys of all documents that any step retrieved,
    `chunks` the ids of their chunks, and `passages` their texts. `shown` are the texts that `succ` looks at. `plan` are
    the steps as they were planned. `models` made the answer, and `prompt_set` names the wording of the prompts; both
    are empty if no model has a part in it, and in rows of earlier releases. `supporting` and `gold_answers` belong to
    the question. `fingerprint` identifies all that the answer depends on besides the question, `gold` the question
    itself.
    """

    question_id: str
    question: str
    reasoner: str
    answer: str
    abstained: bool
    retrieved: tuple[str, ...]
    scores: Mapping[str, float]
    seconds: float
    cost: Cost = field(default_factory=Cost)
    unsupported: str = ""
    support: str = "none"
    note: str = ""
    steps: tuple[StepRow, ...] = ()
    plan: tuple[PlannedRow, ...] = ()
    reviews: tuple[ReviewRow, ...] = ()
    prompts: tuple[PromptRow, ...] = ()
    shown: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    models: tuple[ModelRow, ...] = ()
    prompt_set: str = ""
    type: str = ""
    answerable: bool = True
    gold_answers: tuple[str, ...] = ()
    supporting: tuple[str, ...] = ()
    error: str | None = None
    fingerprint: str = ""
    gold: str = ""

    @property
    def hops(self) -> tuple[StepRow, ...]:
        """The steps that answer parts of the question."""
        return find_hops(self.question, self.steps)

    @property
    def depth(self) -> int:
        """The depth of the plan as in Plan*RAG: 0 if the question was not divided, else the number of its layers."""
        return len({step.depth for step in self.hops})

    @property
    def depths(self) -> range:
        """The depths up to which steps can be judged, from 1; 0 alone if the question was not divided; empty without
        steps.
        """
        return range(1, 1 + self.depth) if self.hops else range(min(len(self.steps), 1))

    def steps_to(self, depth: int) -> tuple[StepRow, ...]:
        """Returns the steps of the first `depth` layers; all steps if the question was not divided."""
        layers = sorted({step.depth for step in self.hops})[:depth]
        return tuple(step for step in self.hops if step.depth in layers) if self.hops else self.steps

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> "AnswerRow":
        """Returns the row that `to_json` wrote; raises `ValueError` for anything else."""
        row = read_row(_make_reader(), fields)
        missing = {"em", "f1"} - row.scores.keys() if row.answerable else {"abstention"} - row.scores.keys()
        if missing:  # reports read them
            raise ValueError(f"`scores` lacks {', '.join(sorted(missing))}")
        return row


@cache
def _make_reader() -> TypeAdapter[AnswerRow]:
    return TypeAdapter(AnswerRow)


def format_names(models: Sequence[ModelRow]) -> str:
    """Returns the names of the models: the model of all roles first, then roles with another model."""
    general = next((model.name for model in models if not model.role), "")
    others = [f"{model.role}={model.name}" for model in models if model.role and model.name != general]
    return " ".join(filter(None, [general, *others]))


def format_parameters(models: Sequence[ModelRow]) -> str:
    """Returns the parameters of the models that are set, and the profiles."""
    parts = []
    for model in models:
        own = [
            *([] if model.temperature is None else [f"temperature {model.temperature:g}"]),
            *([] if model.max_output_tokens is None else [f"{model.max_output_tokens} tokens"]),
            *([model.profile] if model.profile else []),
        ]
        if own:
            parts.append(f"{model.role}: {', '.join(own)}" if model.role else ", ".join(own))
    return "; ".join(parts)

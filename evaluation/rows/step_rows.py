"""The rows within a row: steps, planned steps, reviews and prompts of one answer; and how stored rows are read."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import TypeAdapter

from core.events import CallEvent, PlanEvent, PlannedStep
from core.ports.reasoning import Step
from core.text.names import normalise
from core.trace import Trace
from evaluation.datasets.supporting import Support

__all__ = [
    "PlannedRow",
    "PromptRow",
    "ReviewRow",
    "StepRow",
    "find_hops",
    "make_plan",
    "make_prompts",
    "make_step",
    "read_row",
]

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
        found=tuple(sorted(one.label for one in supporting if any(one.shown_by(hit) for hit in step.hits))),
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
            id=step.id, question=step.question, parents=tuple(one for one in step.parents if one not in left_out)
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

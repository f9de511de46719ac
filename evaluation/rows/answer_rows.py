"""The row of one reasoner's answer to one question: all that is scored, judged and used again.

A row names the models that made the answer, without addresses and keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Self

from pydantic import TypeAdapter

from core.trace import Trace
from evaluation.rows.step_rows import PlannedRow, PromptRow, ReviewRow, StepRow, find_hops, read_row

__all__ = ["AnswerRow", "Cost", "ModelRow", "format_names", "format_parameters"]


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

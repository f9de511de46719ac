"""The row of one reasoner's answer to one question: all that is scored, judged and used again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from core.ports.reasoning import Answer, Step
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation.datasets.dataset import GoldQuestion
from evaluation.datasets.supporting import collapse_hits, match_supports
from evaluation.scores.metrics import contains_answer, distinct, exact_match, precision, recall, token_f1

__all__ = ["ANSWER_METRICS", "AnswerRow", "Cost", "StepRow", "score_answer", "score_failed_answer"]

_SUPPORT_METRICS = ("union_recall", "union_precision")
ANSWER_METRICS = ("em", "f1", "acc", "succ", "succ_retrieved", *_SUPPORT_METRICS)


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


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One step of the plan with its answer."""

    id: str
    question: str
    answer: str
    depth: int
    parents: tuple[str, ...] = ()
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """The answer of a reasoner to one question.

    `answer` is without the markers of its citations. `retrieved` are the keys of all documents that any step retrieved,
    `chunks` the ids of their chunks. `shown` are the texts in the prompt of the final call. `fingerprint` identifies
    all that the answer depends on besides the question, `gold` the question itself.
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
    steps: tuple[StepRow, ...] = ()
    shown: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    fingerprint: str = ""
    gold: str = ""

    @property
    def depth(self) -> int:
        """The depth of the plan as in Plan*RAG: 0 if the question is its only step, else the number of its layers."""
        return len(self.depths) if len(self.steps) > 1 else 0

    @property
    def depths(self) -> range:
        """The depths of its steps, from 0; empty without steps."""
        return range(max((step.depth + 1 for step in self.steps), default=0))

    def steps_to(self, depth: int) -> tuple[StepRow, ...]:
        """Returns the steps of this depth and of lower ones."""
        return tuple(step for step in self.steps if step.depth <= depth)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """Returns the row that `to_json` wrote; raises `TypeError` or `KeyError` for anything else."""
        lists = {name: tuple(fields[name]) for name in ("retrieved", "shown", "chunks", "notes")}
        steps = tuple(StepRow(**{**step, "parents": tuple(step["parents"])}) for step in fields["steps"])
        return cls(**{**fields, **lists, "steps": steps, "cost": Cost(**fields["cost"])})


def score_answer(question: GoldQuestion, reasoner: str, answer: Answer, *, seconds: float, trace: Trace) -> AnswerRow:
    """Returns the row of an answer with its scores. The text of an abstention is not a prediction, so it scores
    nothing.

    `succ` looks at the texts that the final call was shown (without such a call: that the last step retrieved),
    `succ_retrieved` at those that any step retrieved. Metrics of support are left out if the supporting passages are
    unknown.
    """
    every = [hit for step in answer.steps for hit in step.hits]
    context = answer.shown or _list_texts(answer.steps[-1].hits if answer.steps else ())
    found = match_supports(collapse_hits(every, question.supporting), question.supporting)
    prediction = "" if answer.abstained else answer.plain
    scores = {
        "em": exact_match(prediction, question.answers),
        "f1": token_f1(prediction, question.answers),
        "acc": contains_answer([prediction], question.answers),
        "succ": contains_answer(context, question.answers),
        "succ_retrieved": contains_answer(_list_texts(every), question.answers),
        "union_recall": recall(found, question.supporting, len(found)),
        "union_precision": precision(found),
    }
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer=answer.plain,
        abstained=answer.abstained,
        retrieved=distinct(hit.document.key for hit in every),
        scores=_keep_known(question, scores),
        seconds=seconds,
        cost=Cost.of(trace),
        steps=tuple(map(_make_step, answer.steps)),
        shown=tuple(context),
        chunks=distinct(hit.chunk.id for hit in every if hit.url is None),
        notes=tuple(trace.notes),
    )


def score_failed_answer(
    question: GoldQuestion, reasoner: str, error: str, *, seconds: float = 0.0, cost: Cost | None = None
) -> AnswerRow:
    """Returns the row of a failed question, which scores 0 and is counted."""
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer="",
        abstained=False,
        retrieved=(),
        scores=_keep_known(question, dict.fromkeys(ANSWER_METRICS, 0.0)),
        seconds=seconds,
        cost=cost or Cost(),
        error=error,
    )


def _keep_known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if question.supporting or name not in _SUPPORT_METRICS}


def _make_step(step: Step) -> StepRow:
    return StepRow(
        id=step.id,
        question=step.question,
        answer=step.answer,
        depth=step.depth,
        parents=step.parents,
        verdict=step.verdict,
    )


def _list_texts(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in hits)

"""What one reasoner made of one question: all that is scored, judged and resumed from."""

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
    """What the calls of models came to. `cached` calls, which cost nothing, are in no other number."""

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
    """One step of the plan as it was answered."""

    id: str
    question: str
    answer: str
    depth: int
    parents: tuple[str, ...] = ()
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """`answer` is without the markers of its citations; `retrieved` are the keys of all documents that any step
    retrieved, `chunks` the ids of their chunks; `shown` is what the final call had before it.

    `fingerprint` stands for all that the answer depends on beside the question, `gold` for the question itself.
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
        """Of the plan, as Plan*RAG counts: 0 where the question is its only step, else how many layers it has."""
        return len(self.depths) if len(self.steps) > 1 else 0

    @property
    def depths(self) -> range:
        """Those of its steps, from 0; none without steps."""
        return range(max((step.depth + 1 for step in self.steps), default=0))

    def steps_to(self, depth: int) -> tuple[StepRow, ...]:
        """The steps of this depth and of those before it."""
        return tuple(step for step in self.steps if step.depth <= depth)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """What `to_json` made; raises `TypeError` or `KeyError` for anything else."""
        lists = {name: tuple(fields[name]) for name in ("retrieved", "shown", "chunks", "notes")}
        steps = tuple(StepRow(**{**step, "parents": tuple(step["parents"])}) for step in fields["steps"])
        return cls(**{**fields, **lists, "steps": steps, "cost": Cost(**fields["cost"])})


def score_answer(question: GoldQuestion, reasoner: str, answer: Answer, *, seconds: float, trace: Trace) -> AnswerRow:
    """Score one answer. An abstention's text is no prediction, so it scores nothing for what it happens to say.

    `succ` looks at what the final call was shown (without such a call: at what the last step retrieved),
    `succ_retrieved` at what any step retrieved. What depends on the supporting passages is left out where they are not
    known.
    """
    every = [hit for step in answer.steps for hit in step.hits]
    context = answer.shown or _texts(answer.steps[-1].hits if answer.steps else ())
    found = match_supports(collapse_hits(every, question.supporting), question.supporting)
    prediction = "" if answer.abstained else answer.plain
    scores = {
        "em": exact_match(prediction, question.answers),
        "f1": token_f1(prediction, question.answers),
        "acc": contains_answer([prediction], question.answers),
        "succ": contains_answer(context, question.answers),
        "succ_retrieved": contains_answer(_texts(every), question.answers),
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
        steps=tuple(map(_step, answer.steps)),
        shown=tuple(context),
        chunks=distinct(hit.chunk.id for hit in every if hit.url is None),
        notes=tuple(trace.notes),
    )


def score_failed_answer(
    question: GoldQuestion, reasoner: str, error: str, *, seconds: float = 0.0, cost: Cost | None = None
) -> AnswerRow:
    """A question that failed scores nothing, and is counted."""
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


def _step(step: Step) -> StepRow:
    return StepRow(
        id=step.id,
        question=step.question,
        answer=step.answer,
        depth=step.depth,
        parents=step.parents,
        verdict=step.verdict,
    )


def _texts(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in hits)

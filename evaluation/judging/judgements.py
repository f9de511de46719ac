"""The row of a judgement, as it is stored, and the scores of a reasoner from the judgements of all its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from evaluation.rows.answer_rows import Cost, ModelRow, read_row
from evaluation.scores import mean

__all__ = ["FAITHFULNESS", "RELEVANCE", "JudgementRow", "aggregate_judgements"]


@dataclass(frozen=True, kw_only=True)
class JudgementRow:
    """The judgement of one answer. `gain` is by depth, as text. With an `error` there is no judgement, and numbers are
    None.

    `reference` is the answer that a reference model wrote from `chunks`, the chunks of a search or the system's own
    (`reference_from`). `models` wrote the reference and judged; they are empty in rows of earlier releases.
    `fingerprint` identifies all that the judgement depends on, including the answer and the models. `cost` is the cost
    of judging, and no part of the answer's cost.
    """

    question_id: str
    reasoner: str
    reference: str = ""
    chunks: tuple[str, ...] = ()
    relevance: int | None = None
    faithfulness: int | None = None
    gain: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    error: str | None = None
    fingerprint: str = ""
    gold: str = ""
    reference_from: str = "search"
    models: tuple[ModelRow, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> "JudgementRow":
        """Returns the row that `to_json` wrote; raises `ValueError` for anything else."""
        return read_row(_make_reader(), fields)


@cache
def _make_reader() -> TypeAdapter[JudgementRow]:
    return TypeAdapter(JudgementRow)


RELEVANCE = (-1, 0, 1, 2)
FAITHFULNESS = (-1, 0, 1)
_COSTS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def aggregate_judgements(rows: Sequence[JudgementRow]) -> dict[str, Any]:
    """Returns 100 × the mean score, and each score's share, of the judged answers; `failed` counts the others.
    All rows have references of the same kind, and the same models.

    The gain of a depth is the mean over the plans that have this depth.
    """
    judged = [row for row in rows if row.error is None]
    depths = sorted({depth for row in judged for depth in row.gain}, key=int)
    return {
        "relevance": _summarise([row.relevance for row in judged], RELEVANCE),
        "faithfulness": _summarise([row.faithfulness for row in judged], FAITHFULNESS),
        "information_gain": {depth: mean([row.gain[depth] for row in judged if depth in row.gain]) for depth in depths},
        "reference_from": rows[0].reference_from if rows else "",
        "models": [asdict(model) for model in rows[0].models] if rows else [],
        "judged": len(judged),
        "failed": len(rows) - len(judged),
        **{f"{name}_per_query": mean([getattr(row.cost, name) for row in judged]) for name in _COSTS},
    }


def _summarise(scores: Sequence[int | None], possible: Sequence[int]) -> Mapping[str, Any]:
    """Returns the score and shares; the score is None if nothing was judged, since a mean of 0 would be wrong."""
    known = [score for score in scores if score is not None]
    return {
        "score": 100 * mean(known) if known else None,
        "shares": {str(one): mean([float(score == one) for score in known]) for one in possible},
    }

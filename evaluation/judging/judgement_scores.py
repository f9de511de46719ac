"""Scores of a reasoner from the judgements of all its answers; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.judging.judgement_rows import JudgementRow
from evaluation.scores.metrics import mean

__all__ = ["FAITHFULNESS", "RELEVANCE", "aggregate_judgements"]

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

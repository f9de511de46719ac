"""Scores of a reasoner from all its rows; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.rows.answer_rows import ANSWER_METRICS, AnswerRow
from evaluation.scores.metrics import mean, mean_of_known

__all__ = ["DEEPEST", "aggregate_answers"]

DEEPEST = 6
"""Deeper plans are counted with those of this depth."""

_COSTS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def aggregate_answers(rows: Sequence[AnswerRow]) -> dict[str, Any]:
    """Returns the scores of one reasoner's rows.

    Scores are means over all questions, with zeros for failed ones (None: the supporting passages are unknown).
    Seconds, calls, tokens and depths are those of answered questions.
    """
    answered = [row for row in rows if row.error is None]
    return {
        **{name: mean_of_known([row.scores.get(name) for row in rows]) for name in ANSWER_METRICS},
        "depths": _depths(answered),
        "seconds_per_query": mean([row.seconds for row in answered]),
        **{f"{name}_per_query": mean([getattr(row.cost, name) for row in answered]) for name in _COSTS},
        "abstained": sum(row.abstained for row in rows),
        "failed": len(rows) - len(answered),
    }


def _depths(rows: Sequence[AnswerRow]) -> Mapping[str, float]:
    """Returns the share of plans of each depth; keys are texts, as in JSON."""
    depths = [min(row.depth, DEEPEST) for row in rows]
    return {str(depth): mean([float(one == depth) for one in depths]) for depth in range(DEEPEST + 1)}

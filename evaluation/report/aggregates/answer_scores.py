"""Scores of a reasoner from all its rows; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.ports.reasoning import Support
from evaluation.report.aggregates.prompt_scores import summarise_prompts
from evaluation.report.aggregates.review_scores import count_verdicts
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.scored_answers import ANSWER_METRICS
from evaluation.scores.metrics import mean, mean_of_known

__all__ = ["DEEPEST", "aggregate_answers"]

DEEPEST = 6
"""Deeper plans are counted with those of this depth."""

_COSTS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def aggregate_answers(rows: Sequence[AnswerRow]) -> dict[str, Any]:
    """Returns the scores of one reasoner's rows.

    Scores are means over all questions that have them, with zeros for failed ones (None: no question has it). Those in
    `answered` are means over the answerable questions that got an answer. Seconds, calls, tokens, depths and supports
    are those of questions that did not fail; totals are those of all.
    """
    asked = [row for row in rows if row.error is None]
    given = [row for row in asked if row.answerable and not row.abstained]
    return {
        **{name: mean_of_known([row.scores.get(name) for row in rows]) for name in ANSWER_METRICS},
        "answered": {
            "questions": len(given),
            **{name: mean([row.scores[name] for row in given]) if given else None for name in ("em", "f1")},
        },
        "supports": {
            support.value: mean([float(row.support == support) for row in asked]) if asked else None
            for support in Support
        },
        "depths": _depths(asked),
        "seconds_per_query": mean([row.seconds for row in asked]),
        **{f"{name}_per_query": mean([getattr(row.cost, name) for row in asked]) for name in _COSTS},
        "totals": {
            "calls": sum(row.cost.calls for row in rows),
            "tokens": sum(row.cost.prompt_tokens + row.cost.completion_tokens for row in rows),
            "seconds": sum(row.seconds for row in rows),
        },
        "abstained": sum(row.abstained for row in rows),
        "abstained_with_all_supporting": _count_needless(rows),
        "failed": len(rows) - len(asked),
        "reviews": count_verdicts([review for row in rows for review in row.reviews]),
        "prompts": summarise_prompts(asked),
    }


def _count_needless(rows: Sequence[AnswerRow]) -> int | None:
    """Returns how often it abstained although all supporting passages were retrieved; None if none are known."""
    known = [row for row in rows if "union_recall" in row.scores]
    return sum(row.abstained and row.scores["union_recall"] == 1.0 for row in known) if known else None


def _depths(rows: Sequence[AnswerRow]) -> Mapping[str, float]:
    """Returns the share of plans of each depth; keys are texts, as in JSON."""
    depths = [min(row.depth, DEEPEST) for row in rows]
    return {str(depth): mean([float(one == depth) for one in depths]) for depth in range(DEEPEST + 1)}

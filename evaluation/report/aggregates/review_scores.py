"""Verdicts of reviews against gold answers; pure."""

from collections.abc import Mapping, Sequence

from evaluation.rows.step_rows import ReviewRow

__all__ = ["OUTCOMES", "RIGHT", "count_verdicts"]

RIGHT = 0.5
"""The F1 with the gold answer from which the answer of a step counts as right."""

OUTCOMES = {
    "PASS": ("right", "wrong"),
    "REVISED": ("repaired", "broke", "neither"),
    "UNCONFIDENT": ("right", "wrong"),
}
_UNKNOWN = "unknown"


def count_verdicts(reviews: Sequence[ReviewRow]) -> Mapping[str, Mapping[str, int]]:
    """Returns how many reviews of each verdict had each outcome; nothing without reviews.

    PASS and UNCONFIDENT are told apart by the answer that was reviewed. REVISED repaired a wrong answer, broke a right
    one, or did neither. `unknown` are reviews of steps that have no gold answer.
    """
    if not reviews:
        return {}
    counts = {verdict: dict.fromkeys((*outcomes, _UNKNOWN), 0) for verdict, outcomes in OUTCOMES.items()}
    for review in reviews:
        counts[review.verdict][_judge(review)] += 1
    return counts


def _judge(review: ReviewRow) -> str:
    if review.before_f1 is None or review.after_f1 is None:
        return _UNKNOWN
    before, after = review.before_f1 >= RIGHT, review.after_f1 >= RIGHT
    if review.verdict != "REVISED":
        return "right" if before else "wrong"
    if before == after:
        return "neither"
    return "repaired" if after else "broke"

"""The threshold that separates questions that a corpus answers from those that it does not; pure."""

import random
from dataclasses import dataclass, field
from statistics import median_low

from evaluation.scores.metrics import mean

__all__ = ["Separation", "ThresholdPoint", "choose_threshold", "compute_curve", "hold_out"]

_STEP = 100


@dataclass(frozen=True, kw_only=True)
class Separation:
    """One number for each question: of those that the corpus answers, and of those that it does not."""

    answerable: tuple[float, ...] = field(default=())
    unanswerable: tuple[float, ...] = field(default=())

    def plus(self, other: "Separation") -> "Separation":
        return Separation(
            answerable=self.answerable + other.answerable, unanswerable=self.unanswerable + other.unanswerable
        )

    def at(self, threshold: float) -> "ThresholdPoint":
        return ThresholdPoint(
            threshold=threshold,
            answered=mean([float(value >= threshold) for value in self.answerable]),
            abstained=mean([float(value < threshold) for value in self.unanswerable]),
        )


@dataclass(frozen=True, kw_only=True)
class ThresholdPoint:
    """The share of answerable questions at or above a threshold, and of unanswerable ones below it."""

    threshold: float
    answered: float
    abstained: float

    @property
    def balanced_accuracy(self) -> float:
        return (self.answered + self.abstained) / 2


def compute_curve(values: Separation) -> list[ThresholdPoint]:
    """Returns the points at each hundredth between the least and the greatest value."""
    every = (*values.answerable, *values.unanswerable)
    first, last = int(_STEP * min(every)), int(_STEP * max(every)) + 1
    return [values.at(step / _STEP) for step in range(first, last + 1)]


def choose_threshold(values: Separation) -> ThresholdPoint:
    """Returns the point with the best balanced accuracy, the middle one of several."""
    curve = compute_curve(values)
    best = max(point.balanced_accuracy for point in curve)
    threshold = median_low([point.threshold for point in curve if point.balanced_accuracy >= best - 1e-9])
    return values.at(threshold)


def hold_out(values: Separation, seed: int) -> tuple[Separation, Separation]:
    """Returns two random halves of both kinds of questions."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    answerable = draw.sample(values.answerable, len(values.answerable))
    unanswerable = draw.sample(values.unanswerable, len(values.unanswerable))
    a, u = len(answerable) // 2, len(unanswerable) // 2
    return (
        Separation(answerable=tuple(answerable[:a]), unanswerable=tuple(unanswerable[:u])),
        Separation(answerable=tuple(answerable[a:]), unanswerable=tuple(unanswerable[u:])),
    )

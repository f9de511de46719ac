"""How far a mean difference may be due to the questions that happened to be asked: the paired bootstrap; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["LEVEL", "Interval", "bootstrap_interval"]

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean difference, and between which values `level` of the means lie when the questions are drawn again."""

    mean: float
    low: float
    high: float

    @property
    def clear_of_zero(self) -> bool:
        """Whether all of it is on one side; else the difference may be noise."""
        return self.low > 0 or self.high < 0


def bootstrap_interval(
    differences: Sequence[float], *, seed: int, resamples: int = 10_000, level: float = LEVEL
) -> Interval:
    """The mean of paired differences with its percentile interval; there must be at least one difference.

    Questions are drawn with repetition, as many as there are. Equal differences are interchangeable, so that it is
    their counts that are drawn: the same distribution, and memory by the number of different values.
    """
    values, counts = np.unique(np.asarray(differences, dtype=np.float64), return_counts=True)
    asked = len(differences)
    drawn = np.random.default_rng(seed).multinomial(asked, counts / asked, size=resamples)
    low, high = np.quantile(drawn @ values / asked, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean=_rounded(float(np.mean(differences))), low=_rounded(float(low)), high=_rounded(float(high)))


def _rounded(value: float) -> float:
    """Thirds and quarters that cancel out leave 1e-17, and an end at zero has to be zero (and not -0.0)."""
    return round(value, 12) + 0.0

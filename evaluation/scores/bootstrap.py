"""The paired bootstrap: how far a mean difference may be due to the choice of questions; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["LEVEL", "Interval", "bootstrap_interval"]

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean difference, and the range in which `level` of the means lie when the questions are resampled."""

    mean: float
    low: float
    high: float

    @property
    def clear_of_zero(self) -> bool:
        """Whether the interval is on one side of zero; if not, the difference may be noise."""
        return self.low > 0 or self.high < 0


def bootstrap_interval(
    differences: Sequence[float], *, seed: int, resamples: int = 10_000, level: float = LEVEL
) -> Interval:
    """Returns the mean of paired differences with its percentile interval; at least one difference is required.

    Questions are drawn with replacement, as many as there are. Equal differences are interchangeable, so their counts
    are drawn: the distribution is the same, and memory depends on the number of different values.
    """
    values, counts = np.unique(np.asarray(differences, dtype=np.float64), return_counts=True)
    asked = len(differences)
    drawn = np.random.default_rng(seed).multinomial(asked, counts / asked, size=resamples)
    low, high = np.quantile(drawn @ values / asked, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean=_round(float(np.mean(differences))), low=_round(float(low)), high=_round(float(high)))


def _round(value: float) -> float:
    """Returns the value rounded to 12 digits: thirds and quarters that cancel leave 1e-17, and an end at zero must be
    zero (and not -0.0).
    """
    return round(value, 12) + 0.0

"""The decision: which units are quoted, and how probably the question is answered.

All is linear in the features of `evidence`. One row of weights ranks the units. By the features of the first unit, a
second row gives the probability that the hits answer the question, and a third row that one of the first three units
does. `tests/benchmarks/materials/quoting.py` fits the rows.
"""

from dataclasses import dataclass
from math import exp

import numpy as np

from reasoning.strategies.extractive.evidence import Floats
from reasoning.strategies.extractive.weights import WITH_COSINES, WITHOUT_COSINES, Weights

__all__ = ["Decision", "decide", "decide_by"]

_MOST = 50.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The places of the units, the best first; the probabilities that the hits answer the question (`answerable`), and
    that one of the first three units does (`right`).
    """

    order: tuple[int, ...] = ()
    answerable: float = 0.0
    right: float = 0.0


def decide(features: Floats, *, has_cosines: bool) -> Decision:
    """Returns the decision about the units, whose features are rows; the probabilities are 0 without units."""
    return decide_by(WITH_COSINES if has_cosines else WITHOUT_COSINES, features)


def decide_by(weights: Weights, features: Floats) -> Decision:
    """Returns the decision by these weights."""
    if not len(features):
        return Decision()
    order = np.argsort(-features @ np.array(weights.rank), kind="stable")
    best = features[order[0]]
    return Decision(
        order=tuple(order.tolist()),
        answerable=_squash(float(best @ np.array(weights.answerable)) + weights.answerable_bias),
        right=_squash(float(best @ np.array(weights.right)) + weights.right_bias),
    )


def _squash(score: float) -> float:
    return 1 / (1 + exp(-min(max(score, -_MOST), _MOST)))

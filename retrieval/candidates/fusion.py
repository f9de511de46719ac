"""Score fusion: scaling, the weight that the graph earns, the weighted sum of signals, and the order of scores."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["fuse", "order_by_score", "scale", "weigh_graph"]

Floats = NDArray[np.float64]

_NARROW, _WIDEST = 15.0, 40.0
"""Candidates that hold the mass: up to `_NARROW` they cost no weight, from `_WIDEST` the graph has none."""
_CONTRARY, _AGREEING = 0.6, 0.4
"""A correlation of -`_CONTRARY` leaves no weight; one that is higher by `_AGREEING` costs none."""


def scale(values: Floats) -> Floats:
    """Returns the values scaled from 0 (the least) to 1 (the greatest).

    Unknown values (NaN) are 0, and all are 0 if no two differ.
    """
    known = values[~np.isnan(values)]
    if not len(known) or known.max() <= known.min():
        return np.zeros_like(values)
    out: Floats = np.nan_to_num((values - known.min()) / (known.max() - known.min()), nan=0.0)
    return out


def fuse(
    dense: Floats, sparse: Floats, graph: Floats, *, weights: tuple[float, float, float], exponent: float
) -> Floats:
    """Returns the weighted sum of the scaled signals, with PageRank raised to `exponent`, as its mass spans
    magnitudes.
    """
    return weights[0] * scale(dense) + weights[1] * scale(sparse) + weights[2] * scale(graph) ** exponent


def weigh_graph(dense: Floats, sparse: Floats, graph: Floats) -> float:
    """Returns what PageRank is expected to tell about these candidates: 1 all, 0 nothing.

    A name that stands in half of the passages spreads its mass over all of them, and chooses none. A graph whose order
    contradicts both cosine and BM25 is about something else than the question. So the weight falls with the effective
    number of candidates that hold the mass (the exponential of its entropy), and with the correlation of the scaled
    mass with the other two signals.
    """
    held = graph[graph > 0]
    if not len(held):
        return 0.0
    shares = held / held.sum()
    spread = float(np.exp(-(shares * np.log(shares)).sum()))
    agreement = _correlate(scale(dense) + 0.3 * scale(sparse), scale(graph) ** 0.25)
    return float(
        np.clip((_WIDEST - spread) / (_WIDEST - _NARROW), 0, 1) * np.clip((agreement + _CONTRARY) / _AGREEING, 0, 1)
    )


def _correlate(left: Floats, right: Floats) -> float:
    """Returns the correlation of two signals; 0 if one of them is constant."""
    if left.std() == 0 or right.std() == 0:
        return 0.0
    return float(np.corrcoef(left, right)[0, 1])


def order_by_score(numbers: NDArray[np.int64], scores: Floats) -> NDArray[np.int64]:
    """Returns the indices that sort by score, best first; equal scores are ordered by number, which is the order of
    ids.
    """
    return np.lexsort((numbers, -scores))

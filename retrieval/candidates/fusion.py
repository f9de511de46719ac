"""Signals of different kinds on one scale, and their mix."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["fuse", "order_by_score", "scale"]

Floats = NDArray[np.float64]


def scale(values: Floats) -> Floats:
    """From 0 (the least) to 1 (the greatest); 0 for what is unknown (NaN), and for all if no two differ."""
    known = values[~np.isnan(values)]
    if not len(known) or known.max() <= known.min():
        return np.zeros_like(values)
    out: Floats = np.nan_to_num((values - known.min()) / (known.max() - known.min()), nan=0.0)
    return out


def fuse(
    dense: Floats, sparse: Floats, graph: Floats, *, weights: tuple[float, float, float], exponent: float
) -> Floats:
    """The weighted sum of the scaled signals, PageRank raised to `exponent`: its mass is spread over magnitudes."""
    return weights[0] * scale(dense) + weights[1] * scale(sparse) + weights[2] * scale(graph) ** exponent


def order_by_score(numbers: NDArray[np.int64], scores: Floats) -> NDArray[np.int64]:
    """Places of the best first; equal scores by number, which is by id."""
    return np.lexsort((numbers, -scores))

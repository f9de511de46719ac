"""Signals of different kinds on one scale, and their mix."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["mixed", "ranked", "scaled"]

Floats = NDArray[np.float64]


def scaled(values: Floats) -> Floats:
    """From 0 (the least) to 1 (the greatest); 0 for what is unknown (NaN), and for all if no two differ."""
    known = values[~np.isnan(values)]
    if not len(known) or known.max() <= known.min():
        return np.zeros_like(values)
    out: Floats = np.nan_to_num((values - known.min()) / (known.max() - known.min()), nan=0.0)
    return out


def mixed(
    dense: Floats, sparse: Floats, graph: Floats, *, weights: tuple[float, float, float], exponent: float
) -> Floats:
    """The weighted sum of the scaled signals, PageRank raised to `exponent`: its mass is spread over magnitudes."""
    return weights[0] * scaled(dense) + weights[1] * scaled(sparse) + weights[2] * scaled(graph) ** exponent


def ranked(numbers: NDArray[np.int64], scores: Floats) -> NDArray[np.int64]:
    """Places of the best first; equal scores by number, which is by id."""
    return np.lexsort((numbers, -scores))

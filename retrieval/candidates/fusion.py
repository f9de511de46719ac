"""Score fusion: min-max scaling, the weighted sum of signals, and the order of scores."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["fuse", "order_by_score", "scale"]

Floats = NDArray[np.float64]


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


def order_by_score(numbers: NDArray[np.int64], scores: Floats) -> NDArray[np.int64]:
    """Returns the indices that sort by score, best first; equal scores are ordered by number, which is the order of
    ids.
    """
    return np.lexsort((numbers, -scores))

"""Score fusion: scaling, the weight that the graph earns, the weighted sum of signals, and the order of scores."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SPREAD = (15.0, 40.0)
_WITHIN = (3.0, 6.0)
_CONTRARY = (0.15, 0.5)
"""Up to the first value the graph has its whole weight, from the second on none: for the candidates that hold the mass,
for the candidates of one document, and for the negative correlation with the other signals."""


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


def weigh_graph(dense: Floats, sparse: Floats, graph: Floats, documents: NDArray[np.int64]) -> float:
    """Returns how much PageRank is expected to tell about these candidates (n,), of the numbered documents: 1 all, 0
    nothing.

    The weight falls with three numbers:

    - The effective number of candidates that hold the mass (the exponential of its entropy): a name in half of the
      passages spreads its mass over all of them.
    - The effective number of candidates for each document that holds mass: a name throughout a document chooses the
      document and no passage of it.
    - The negative correlation of the scaled mass with cosine and BM25, as far as chance does not explain it: a graph
      that contradicts both is about something else than the question.
    """
    if not (graph > 0).any():
        return 0.0
    spread = _count_effective(graph)
    within = spread / _count_effective(np.bincount(documents, graph).astype(np.float64))
    agreement = _correlate(scale(dense) + 0.3 * scale(sparse), scale(graph) ** 0.25)
    return _fall(spread, _SPREAD) * _fall(within, _WITHIN) * _fall(-agreement - len(graph) ** -0.5, _CONTRARY)


def _count_effective(mass: Floats) -> float:
    """Returns the exponential of the entropy: n for n equal masses."""
    shares = mass[mass > 0] / mass.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _fall(value: float, bounds: tuple[float, float]) -> float:
    """Returns 1 up to the first bound, 0 from the second on, and what lies between them linearly."""
    full, none = bounds
    return float(np.clip((none - value) / (none - full), 0, 1))


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

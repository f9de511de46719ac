"""The parts of a hit's score by feature, which sum to the score. They are computed only on request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.ports.retrieval import Hit
from retrieval.bridged.ranker import Ranker, standardise
from retrieval.bridged.stage1 import EXPONENT, WEIGHTS
from retrieval.candidates.fusion import scale
from retrieval.candidates.pool import Pool

__all__ = ["add_contributions", "split_fused_score", "split_ranker_score"]

Floats = NDArray[np.float64]


def split_ranker_score(ranker: Ranker, features: Floats) -> dict[str, Floats]:
    """Returns the parts of each candidate's score, by name, (n,), for `features` (n, f); they sum to `Ranker.score`.

    The part of a feature is its weighted value beyond the mean of the candidates, on the scale of the score. Besides
    the features there is `trees`, which cannot be divided among features; or, for a ranker without trees, `mean`, the
    score of the average candidate.
    """
    linear = features @ ranker.weights
    parts = ranker.contributions(features)
    if ranker.trees is None:
        return {**_by_feature(ranker, parts), "mean": np.full(len(linear), linear.mean())}
    deviation = linear.std()
    scale = 1.0 / deviation if deviation > 0 else 0.0
    return {**_by_feature(ranker, parts * scale), "trees": standardise(ranker.trees.score(features))}


def split_fused_score(pool: Pool) -> dict[str, Floats]:
    """Returns the parts of stage 1's score, by the names of its signals."""
    dense, sparse, graph = WEIGHTS
    return {
        "dense": dense * scale(pool.dense),
        "sparse": sparse * scale(pool.sparse),
        "graph": graph * scale(pool.graph) ** EXPONENT,
    }


def add_contributions(hits: Sequence[Hit], places: Sequence[int], parts: Mapping[str, Floats]) -> tuple[Hit, ...]:
    """Returns the hits, which are at `places` among the candidates, each with its parts."""
    return tuple(
        replace(hit, contributions={name: float(values[place]) for name, values in parts.items()})
        for hit, place in zip(hits, places, strict=True)
    )


def _by_feature(ranker: Ranker, parts: Floats) -> dict[str, Floats]:
    return dict(zip(ranker.features, parts.T, strict=True))

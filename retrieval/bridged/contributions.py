"""What a hit's score is made of, by feature: parts that sum to the score. Only asked for, so apart from ranking."""

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
    """Of `features` (n, f), by name, (n,): for each candidate they sum to `Ranker.score`.

    A feature's is its weighted value beyond the mean of the candidates, on the scale of the score. Beside them stand
    `trees`, which cannot be told apart by feature; or, without trees, `mean`: the score that the average candidate has.
    """
    linear = features @ ranker.weights
    parts = ranker.contributions(features)
    if ranker.trees is None:
        return {**_named(ranker, parts), "mean": np.full(len(linear), linear.mean())}
    deviation = linear.std()
    scale = 1.0 / deviation if deviation > 0 else 0.0
    return {**_named(ranker, parts * scale), "trees": standardise(ranker.trees.score(features))}


def split_fused_score(pool: Pool) -> dict[str, Floats]:
    """The parts of stage 1's score, under the names of its signals."""
    dense, sparse, graph = WEIGHTS
    return {
        "dense": dense * scale(pool.dense),
        "sparse": sparse * scale(pool.sparse),
        "graph": graph * scale(pool.graph) ** EXPONENT,
    }


def add_contributions(hits: Sequence[Hit], places: Sequence[int], parts: Mapping[str, Floats]) -> tuple[Hit, ...]:
    """The hits, which are at `places` among the candidates, each with its own."""
    return tuple(
        replace(hit, contributions={name: float(values[place]) for name, values in parts.items()})
        for hit, place in zip(hits, places, strict=True)
    )


def _named(ranker: Ranker, parts: Floats) -> dict[str, Floats]:
    return dict(zip(ranker.features, parts.T, strict=True))

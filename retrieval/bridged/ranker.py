"""The trained ranker: a linear score of features, optionally with gradient-boosted trees."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.features import compute_features
from retrieval.bridged.trees import Trees

__all__ = ["Ranker", "standardise"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Ranker:
    """A ranker whose score is z(weights · features) + z(trees), z over the candidates; without trees the first alone.

    `provenance` says what the file was trained on, under which licence, by which command, and what it gains.
    """

    features: tuple[str, ...]
    weights: Floats
    trees: Trees | None
    provenance: Mapping[str, Any]

    def score(self, features: Floats) -> Floats:
        """Returns one score for each row of `features` (n, f); scores of different questions cannot be compared."""
        linear: Floats = features @ self.weights
        return linear if self.trees is None else standardise(linear) + standardise(self.trees.score(features))

    def rank(self, evidence: PoolEvidence) -> Floats:
        """Returns one score for each candidate."""
        return self.score(compute_features(evidence, self.features))

    def contributions(self, features: Floats) -> Floats:
        """Returns what each feature adds to the linear score beyond its mean over the candidates, (n, f)."""
        out: Floats = (features - features.mean(axis=0)) * self.weights
        return out


def standardise(values: Floats) -> Floats:
    """Returns the values with mean 0 and standard deviation 1; all 0 if no two differ."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)

"""The probability that two entities are one: a logistic model, whose weights are the file `weights.json`.

`python -m tests.benchmarks.resolution --fit` fits them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp

from retrieval.resolution.features import FEATURES

__all__ = ["ResolutionModel", "read_model", "shipped_model"]


@dataclass(frozen=True)
class ResolutionModel:
    """`weights` and `means` have each feature. The means are those of the pairs that the weights were fitted on."""

    bias: float
    weights: Mapping[str, float]
    means: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Returns the probability, from 0 to 1. Features that are left out are 0."""
        score = self.bias + sum(self.weights[name] * value for name, value in features.items())
        return 1 / (1 + exp(-score))

    def effects(self, features: Mapping[str, float]) -> dict[str, float]:
        """Returns by how much each feature of a pair raises the log-odds over those of a pair with its mean."""
        return {name: self.weights[name] * (value - self.means[name]) for name, value in features.items()}


def read_model(text: str) -> ResolutionModel:
    """Reads a file of weights. Raises `ValueError` if its features are not `FEATURES`."""
    content = json.loads(text)
    rows = content["features"]
    if tuple(rows) != FEATURES:
        raise ValueError(f"the weights are for other features: {', '.join(sorted(set(rows) ^ set(FEATURES)))}")
    return ResolutionModel(
        bias=content["bias"],
        weights={name: row["weight"] for name, row in rows.items()},
        means={name: row["mean"] for name, row in rows.items()},
    )


@cache
def shipped_model() -> ResolutionModel:
    return read_model(resources.files(__package__).joinpath("weights.json").read_text("utf-8"))

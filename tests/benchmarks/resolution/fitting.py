"""The fit of the logistic model, in numpy, and its figures: precision, recall, and the error of the probabilities."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.resolution.features import FEATURES

__all__ = ["Judged", "calibration_error", "fit", "format_weights", "precision_and_recall"]

_PENALTY = 0.5
_STEPS = 100
_HEAVIEST = 20.0
"""The greatest weight of a pair in the fit, so that no pair of a large stratum decides alone."""


@dataclass(frozen=True)
class Judged:
    """A pair's features, whether both are one, and how many pairs of its corpus it stands for."""

    features: Mapping[str, float]
    same: bool
    weight: float


def fit(pairs: Sequence[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the weights of the features with the bias last, and the means of the features."""
    rows = np.array([[pair.features.get(name, 0.0) for name in FEATURES] for pair in pairs])
    wanted = np.array([pair.same for pair in pairs], np.float64)
    weights = np.array([min(pair.weight, _HEAVIEST) for pair in pairs])
    inputs = np.hstack([rows, np.ones((len(rows), 1))])
    penalties = np.full(inputs.shape[1], _PENALTY)
    penalties[-1] = 1e-3
    found = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        probabilities = 1 / (1 + np.exp(-inputs @ found))
        gradient = inputs.T @ (weights * (probabilities - wanted)) + penalties * found
        curvature = (inputs * (weights * probabilities * (1 - probabilities))[:, None]).T @ inputs + np.diag(penalties)
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return found, np.average(rows, axis=0, weights=weights)


def format_weights(found: NDArray[np.float64], means: NDArray[np.float64], note: str) -> str:
    """Returns the text of `retrieval/resolution/weights.json`."""
    features = {
        name: {"weight": round(float(weight), 3), "mean": round(float(mean), 3)}
        for name, weight, mean in zip(FEATURES, found[:-1], means, strict=True)
    }
    return json.dumps({"fitted_on": note, "bias": round(float(found[-1]), 3), "features": features}, indent=1) + "\n"


def precision_and_recall(scored: Sequence[tuple[float, bool, float]], least: float) -> tuple[float, float, int]:
    """Returns the weighted precision and recall of the pairs of at least a probability, and how many pairs these are.

    `scored` are probabilities, whether the pair is one, and weights.
    """
    kept = [(same, weight) for probability, same, weight in scored if probability >= least]
    right = sum(weight for same, weight in kept if same)
    chosen, wanted = sum(weight for _, weight in kept), sum(weight for _, same, weight in scored if same)
    return right / chosen if chosen else 1.0, right / wanted if wanted else 0.0, len(kept)


def calibration_error(scored: Sequence[tuple[float, bool, float]], bins: int = 10) -> float:
    """Returns the expected calibration error: over bins of equal width, the mean distance of the share of pairs that
    are one from their mean probability.
    """
    total = sum(weight for _, _, weight in scored)
    error = 0.0
    for bin in range(bins):
        inside = [row for row in scored if bin <= row[0] * bins < bin + 1 or (bin == bins - 1 and row[0] == 1)]
        error += abs(sum(weight * (same - probability) for probability, same, weight in inside))
    return error / total

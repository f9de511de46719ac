"""The fit of the logistic model, in numpy, and its figures: precision, recall, and the error of the probabilities.

The model is fitted on pairs that are no sample of what is proposed. Its probabilities are those of proposals by Platt
scaling: a slope and a shift of the log-odds, fitted on judged pairs that the model of the other folds has not seen.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.resolution.features import FEATURES

__all__ = [
    "Judged",
    "calibration_error",
    "expected_error",
    "fit",
    "fit_calibrated",
    "format_weights",
    "precision_and_recall",
]

_PENALTY = 1.5
_STEPS = 100
_FOLDS = 10
_LEAST_CALIBRATED = 0.02
_HEAVIEST = 8.0
"""The greatest weight of a pair in the fit, so that no pair of a large stratum decides alone."""


@dataclass(frozen=True)
class Judged:
    """A pair's features, whether both are one, and how many pairs of its corpus it stands for."""

    features: Mapping[str, float]
    same: bool
    weight: float


def fit(pairs: Sequence[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the weights of the features with the bias last, and the means of the features."""
    inputs, wanted = _rows_of(pairs), np.array([pair.same for pair in pairs], np.float64)
    weights = np.array([min(pair.weight, _HEAVIEST) for pair in pairs])
    penalties = np.full(inputs.shape[1], _PENALTY)
    penalties[-1] = 1e-3
    return _descend(inputs, wanted, weights, penalties), np.average(inputs[:, :-1], axis=0, weights=weights)


def fit_calibrated(
    judged: Sequence[Judged], others: Sequence[Judged]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns what `fit` returns of all these pairs, with log-odds that are scaled so that the probabilities of
    `judged` pairs, which stand for what is proposed, are right.
    """
    odds = np.zeros(len(judged))
    for fold in range(_FOLDS):
        rest = [pair for place, pair in enumerate(judged) if place % _FOLDS != fold]
        odds[fold::_FOLDS] = _rows_of(judged[fold::_FOLDS]) @ fit([*rest, *others])[0]
    kept = odds >= np.log(_LEAST_CALIBRATED / (1 - _LEAST_CALIBRATED))
    wanted = np.array([pair.same for pair in judged], np.float64)[kept]
    weights = np.array([pair.weight for pair in judged])[kept]
    inputs = np.column_stack([odds[kept], np.ones(kept.sum())])
    slope, shift = _descend(inputs, wanted, weights / weights.mean(), np.full(2, 1e-3))
    found, means = fit([*judged, *others])
    found *= slope
    found[-1] += shift
    return found, means


def _rows_of(pairs: Sequence[Judged]) -> NDArray[np.float64]:
    return np.array([[*(pair.features.get(name, 0.0) for name in FEATURES), 1.0] for pair in pairs])


def _descend(
    inputs: NDArray[np.float64],
    wanted: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalties: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Returns the coefficients of a logistic regression, by Newton's method."""
    found = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        probabilities = 1 / (1 + np.exp(-inputs @ found))
        gradient = inputs.T @ (weights * (probabilities - wanted)) + penalties * found
        curvature = (inputs * (weights * probabilities * (1 - probabilities))[:, None]).T @ inputs + np.diag(penalties)
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return found


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


def expected_error(scored: Sequence[tuple[float, bool, float]], draws: int = 500) -> float:
    """Returns the mean calibration error that probabilities have in such a sample if they are right."""
    rng = random.Random(35)
    errors = (calibration_error([(one, rng.random() < one, weight) for one, _, weight in scored]) for _ in range(draws))
    return sum(errors) / draws


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

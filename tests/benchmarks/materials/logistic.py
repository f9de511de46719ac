"""Fits the weights of `extractive`: a row that ranks units, and the probability that the best of them answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from reasoning.strategies.extractive import OTHER_NUMBER
from reasoning.strategies.extractive.quoting.evidence import COSINES, FEATURES, decide_by
from reasoning.strategies.extractive.quoting.weights import Weights

__all__ = ["AskedUnits", "Sort", "fit_weights", "judge"]

Floats = NDArray[np.float64]

_QUOTED = 3
_RANK_RIDGE, _ANSWERABLE_RIDGE, _RIGHT_RIDGE = 0.6, 10.0, 3.0
_STEPS, _RATE = 400, 0.1


class Sort(StrEnum):
    """Whether the corpus answers a question; one that it does not answer is about it (`NEAR`) or not
    (`FAR`). `MASKED`: it would, but the passages that answer are left out.
    """

    ANSWERABLE = "answerable"
    MASKED = "masked"
    NEAR = "near"
    FAR = "far"


_ANSWERABLE_SHARES = {Sort.ANSWERABLE: 0.6, Sort.MASKED: 0.05, Sort.NEAR: 0.2, Sort.FAR: 0.15}
"""What each sort weighs in the fit. Masked questions weigh little: other passages may answer them."""
_RIGHT_SHARES = {Sort.ANSWERABLE: 0.8, Sort.NEAR: 0.2}
"""The same, of what is mostly shown and not declined."""
_RIGHT_FEATURES = (
    "in_unit",
    "rarest_missing_near",
    "found_nowhere",
    "value",
    "unit_cosine",
    "best_cosine",
    "asked_words",
)
"""Few, since few questions tell whether the quotes are right. All features order .68 of the pairs, and these .70."""


_SPEAK_FOR = frozenset(
    {"in_unit", "in_context", "beside", "in_passage", "pairs", "value", "value_and_words", "rank"}
    | {"unit_cosine", "cosine_lead", "hit_cosine", "best_cosine"}
)
_SPEAK_AGAINST = frozenset({"rarest_missing", "rarest_missing_near", "names_missing", "found_nowhere", "no_value"})


@dataclass(frozen=True, kw_only=True)
class AskedUnits:
    """A question with the features of its units, (units, features), and whether each of them is right, (units,).

    `alone`: one quote can answer it. `held`: a hit shows what is needed. `lacks_number`: no quote has its number.
    `order`, `answerable` and `probability` (that the quotes are right) are by the last weights that decided, and so is
    `answers`: one of the first three units is right.
    """

    kind: str
    group: str
    sort: Sort
    question: str
    features: Floats
    right: NDArray[np.bool_]
    texts: tuple[str, ...]
    alone: bool = True
    held: bool = False
    lacks_number: bool = False
    order: tuple[int, ...] = ()
    answerable: float = 0.0
    probability: float = 0.0

    @property
    def answers(self) -> bool:
        return any(self.right[list(self.order[:_QUOTED])])

    def decide(self, weights: Weights, *, has_cosines: bool) -> "AskedUnits":
        decision = decide_by(weights, _mask(self.features, has_cosines=has_cosines))
        right = min(decision.right, OTHER_NUMBER) if self.lacks_number else decision.right
        return replace(self, order=decision.order, answerable=decision.answerable, probability=right)


def judge(asked: Sequence[AskedUnits], least: float, sure: float = 0.7) -> dict[str, float]:
    """Returns shares; `least` is the probability below which a question is declined."""
    answerable = [one for one in asked if one.sort is Sort.ANSWERABLE]
    held = [one for one in answerable if one.held]
    given = [one for one in asked if one.answerable >= least and one.sort in {Sort.ANSWERABLE, Sort.NEAR}]

    def is_plain(one: AskedUnits) -> bool:
        return one.answerable >= least and one.probability >= sure

    plain = [one for one in given if one.probability >= sure]
    noted = [one for one in given if one.probability < sure]
    found = {"questions": len(answerable) / 100}
    shares = {
        "held": [one.held for one in answerable],
        "right, if held": [one.answers for one in held],
        "shown right, if held": [one.answers and one.answerable >= least for one in held],
        "declined, though held": [one.answerable < least for one in held],
        "wrong without a note": [is_plain(one) and not one.answers for one in answerable],
        "without a note": [is_plain(one) for one in answerable],
        "right without a note": [one.answers for one in plain],
        "right with a note": [one.answers for one in noted],
        **{
            f"{sort}: declined": [one.answerable < least for one in asked if one.sort is sort]
            for sort in (Sort.MASKED, Sort.NEAR, Sort.FAR)
        },
        **{
            f"{sort}: without a note": [is_plain(one) for one in asked if one.sort is sort]
            for sort in (Sort.MASKED, Sort.NEAR, Sort.FAR)
        },
    }
    return found | {name: float(np.mean(values)) for name, values in shares.items() if values}


def fit_weights(asked: Sequence[AskedUnits], *, has_cosines: bool) -> Weights:
    """Returns the weights for questions of several kinds, each of which weighs the same."""
    asked = [replace(one, features=_mask(one.features, has_cosines=has_cosines)) for one in asked if len(one.right)]
    alone = [one for one in asked if one.alone]
    rank = tuple(_fit_rank([(one, _weigh(one, alone)) for one in alone if one.right.any()], _scale(alone)).tolist())
    zeros = tuple(0.0 for _ in rank)
    by_rank = Weights(rank=rank, answerable=zeros, answerable_bias=0.0, right=zeros, right_bias=0.0)
    ordered = [one.decide(by_rank, has_cosines=True) for one in asked]
    known = [one for one in ordered if one.held or one.sort is not Sort.ANSWERABLE]
    answerable, answerable_bias = _fit_probability(
        known, [one.held for one in known], _ANSWERABLE_SHARES, FEATURES, _ANSWERABLE_RIDGE
    )
    shown = [one for one in ordered if one.alone and one.sort in _RIGHT_SHARES]
    right, right_bias = _fit_probability(
        shown, [one.answers for one in shown], _RIGHT_SHARES, _RIGHT_FEATURES, _RIGHT_RIDGE
    )
    return replace(by_rank, answerable=answerable, answerable_bias=answerable_bias, right=right, right_bias=right_bias)


def _fit_probability(
    asked: Sequence[AskedUnits],
    labels: Sequence[bool],
    shares: Mapping[Sort, float],
    features: Collection[str],
    ridge: float,
) -> tuple[tuple[float, ...], float]:
    """Fits the probability of the labels by some features of each question's best unit; the other weights are 0.

    Of the features whose weight has the wrong sign, the greatest is left out, and the rest is fitted again: what speaks
    for an answer must not count against it because of a few questions.
    """
    best = np.array([one.features[one.order[0]] for one in asked])
    scale = np.where(best.std(axis=0) > 0, best.std(axis=0), 1.0)
    shares_of = np.array([shares[one.sort] * _weigh(one, asked) for one in asked])
    truth, weights = np.array(labels, np.float64), shares_of * len(asked) / shares_of.sum()
    used = np.array([name in features for name in FEATURES])
    signs = np.array([(name in _SPEAK_FOR) - (name in _SPEAK_AGAINST) for name in FEATURES])
    while True:
        row, bias = _fit_logistic(best / scale * used, truth, weights, ridge)
        worst = int(np.argmin(signs * row))
        if signs[worst] * row[worst] >= 0:
            return tuple((row / scale).tolist()), bias
        used[worst] = False


def _scale(asked: Sequence[AskedUnits]) -> Floats:
    deviation: Floats = np.vstack([one.features for one in asked]).std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _weigh(one: AskedUnits, asked: Sequence[AskedUnits]) -> float:
    """Returns the weight of a question, so that each kind weighs the same in its sort."""
    same = sum(other.sort is one.sort and other.kind == one.kind for other in asked)
    kinds = len({other.kind for other in asked if other.sort is one.sort})
    return 1 / (same * kinds)


def _fit_rank(asked: Sequence[tuple[AskedUnits, float]], scale: Floats) -> Floats:
    """Maximises the probability of the right units among the units of each question (a conditional logit), by Adam."""
    total = sum(weight for _, weight in asked)
    row, mean, square = (np.zeros(len(scale)) for _ in range(3))
    for step in range(1, _STEPS + 1):
        gradient = -_RANK_RIDGE * row
        for one, weight in asked:
            values = one.features / scale
            scores = np.exp(values @ row - (values @ row).max())
            right = scores * one.right
            gradient += weight / total * (right / right.sum() - scores / scores.sum()) @ values
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        row = row + _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return row / scale


def _fit_logistic(values: Floats, right: Floats, weights: Floats, ridge: float) -> tuple[Floats, float]:
    """Fits a logistic model with a ridge by Newton's method; the constant has no ridge."""
    design = np.hstack([values, np.ones((len(values), 1))])
    penalty = np.diag([*(ridge for _ in range(values.shape[1])), 1e-6])
    row = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(design @ row, -30, 30)))
        gradient = design.T @ (weights * (right - chance)) - penalty @ row
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + penalty
        row = row + np.linalg.solve(curvature, gradient)
    return row[:-1], float(row[-1])


def _mask(features: Floats, *, has_cosines: bool) -> Floats:
    if has_cosines or not len(features):
        return features
    return np.hstack([features[:, :-COSINES], np.zeros((len(features), COSINES))])

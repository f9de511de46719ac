"""Measures of one question's result, as `docs/benchmarks.md` defines them; pure. All are fractions from 0 to 1."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence, Set

from core.answers import normalise_answer

__all__ = [
    "Shown",
    "all_recall",
    "contains_answer",
    "distinct",
    "exact_match",
    "mean",
    "mean_of_known",
    "percentile",
    "precision",
    "recall",
    "reciprocal_rank",
    "token_f1",
]

Shown = Sequence[Set[Hashable]]
"""A ranking: what each place of it shows of the passages that support the question."""


def distinct(ranking: Iterable[str]) -> tuple[str, ...]:
    """Each once, where it stands first."""
    return tuple(dict.fromkeys(ranking))


def recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """The share of the supporting passages that the first k show. Nothing to find is found."""
    if not supporting:
        return 1.0
    return len(set().union(*shown[:k]) & set(supporting)) / len(set(supporting))


def all_recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """1 if the first k show every supporting passage."""
    return float(set(supporting) <= set().union(*shown[:k]))


def precision(shown: Shown) -> float:
    """The share of what was retrieved that supports; nothing retrieved is 0."""
    return sum(map(bool, shown)) / len(shown) if shown else 0.0


def reciprocal_rank(shown: Shown) -> float:
    """1 / the place of the first that supports; 0 if there is none."""
    return next((1 / place for place, supports in enumerate(shown, start=1) if supports), 0.0)


def contains_answer(texts: Iterable[str], answers: Iterable[str]) -> float:
    """1 if a normalised answer is contained in one normalised text; an answer of which nothing is left is in none.

    Plain containment, as published, so that figures compare: "no" is contained in "north".
    """
    gold = [normalised for normalised in map(normalise_answer, answers) if normalised]
    return float(any(answer in normalise_answer(text) for text in texts for answer in gold))


def exact_match(prediction: str, answers: Iterable[str]) -> float:
    """1 if the prediction is one of the answers, normalised."""
    return float(normalise_answer(prediction) in map(normalise_answer, answers))


def token_f1(prediction: str, answers: Iterable[str]) -> float:
    """The harmonic mean of precision and recall over the tokens that are shared; the best over the answers."""
    return max((_token_f1(normalise_answer(prediction), normalise_answer(answer)) for answer in answers), default=0.0)


def _token_f1(prediction: str, answer: str) -> float:
    left, right = prediction.split(), answer.split()
    if not left or not right:
        return float(left == right)
    shared = sum((Counter(left) & Counter(right)).values())
    return 2 * shared / (len(left) + len(right))


def mean(values: Sequence[float]) -> float:
    """0 for none: a question set that yields nothing is no success."""
    return sum(values) / len(values) if values else 0.0


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Over those that are known; None where none is, of some that were asked for."""
    known = [value for value in values if value is not None]
    return mean(known) if known or not values else None


def percentile(values: Sequence[float], share: float) -> float:
    """Linear between the two nearest ranks, as numpy's default; 0 for no values. `share` is a fraction."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])

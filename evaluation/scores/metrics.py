"""Measures of one question's result, as defined in `docs/benchmarks.md`; pure. All are fractions from 0 to 1."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence, Set
from itertools import permutations, product

from core.text.answers import normalise_answer

__all__ = [
    "Shown",
    "all_recall",
    "contains_answer",
    "contains_parts",
    "distinct",
    "exact_match",
    "exact_match_of_parts",
    "mean",
    "mean_of_known",
    "percentile",
    "precision",
    "recall",
    "reciprocal_rank",
    "token_f1",
    "token_f1_of_parts",
]

Shown = Sequence[Set[Hashable]]
"""A ranking: for each place, the supporting passages that it shows."""


def distinct(ranking: Iterable[str]) -> tuple[str, ...]:
    """Returns each key once, at its first place."""
    return tuple(dict.fromkeys(ranking))


def recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """Returns the share of the supporting passages that the first k places show; 1 if there are none."""
    if not supporting:
        return 1.0
    return len(set().union(*shown[:k]) & set(supporting)) / len(set(supporting))


def all_recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """Returns 1 if the first k places show every supporting passage, else 0."""
    return float(set(supporting) <= set().union(*shown[:k]))


def precision(shown: Shown) -> float:
    """Returns the share of places that support the question; 0 if nothing was retrieved."""
    return sum(map(bool, shown)) / len(shown) if shown else 0.0


def reciprocal_rank(shown: Shown) -> float:
    """Returns 1 / the place of the first that supports the question; 0 if there is none."""
    return next((1 / place for place, supports in enumerate(shown, start=1) if supports), 0.0)


def contains_answer(texts: Iterable[str], answers: Iterable[str]) -> float:
    """Returns 1 if a normalised answer is contained in a normalised text; an answer that normalises to '' is in none.

    This is plain containment, as published, so that results are comparable: "no" is contained in "north".
    """
    gold = [normalised for normalised in map(normalise_answer, answers) if normalised]
    return float(any(answer in normalise_answer(text) for text in texts for answer in gold))


def exact_match(prediction: str, answers: Iterable[str]) -> float:
    """Returns 1 if the prediction is one of the answers, normalised."""
    return float(normalise_answer(prediction) in map(normalise_answer, answers))


def token_f1(prediction: str, answers: Iterable[str]) -> float:
    """Returns the harmonic mean of precision and recall over shared tokens, the best over the answers."""
    return max((_token_f1(normalise_answer(prediction), normalise_answer(answer)) for answer in answers), default=0.0)


def _token_f1(prediction: str, answer: str) -> float:
    left, right = prediction.split(), answer.split()
    if not left or not right:
        return float(left == right)
    shared = sum((Counter(left) & Counter(right)).values())
    return 2 * shared / (len(left) + len(right))


def mean(values: Sequence[float]) -> float:
    """Returns the mean; 0 of no values, so that a question set without results is no success."""
    return sum(values) / len(values) if values else 0.0


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Returns the mean of the known values; None if there are values and none is known."""
    known = [value for value in values if value is not None]
    return mean(known) if known or not values else None


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the percentile, linear between the two nearest ranks as in numpy; 0 of no values. `share` is a
    fraction.
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def contains_parts(texts: Sequence[str], parts: Iterable[Iterable[str]]) -> float:
    """Returns 1 if the texts contain an answer of every part, as `contains_answer` does for one."""
    return min((contains_answer(texts, answers) for answers in parts), default=0.0)


def exact_match_of_parts(prediction: str, parts: Sequence[Sequence[str]]) -> float:
    """Returns 1 if the prediction lists an answer of every part and nothing else, in any order. One part is compared as
    by `exact_match`; between several, "and" counts as punctuation.
    """
    if len(parts) == 1:
        return exact_match(prediction, parts[0])
    given = _list_words(prediction)
    lists = (ordered for chosen in product(*parts) for ordered in permutations(chosen))
    return float(any(_list_words(" ".join(ordered)) == given for ordered in lists))


def token_f1_of_parts(prediction: str, parts: Sequence[Sequence[str]]) -> float:
    """Returns `token_f1` with the list of an answer of every part, the best over the answers."""
    if len(parts) == 1:
        return token_f1(prediction, parts[0])
    given = " ".join(_list_words(prediction))
    return max((_token_f1(given, " ".join(_list_words(" ".join(chosen)))) for chosen in product(*parts)), default=0.0)


def _list_words(text: str) -> list[str]:
    return [word for word in normalise_answer(text).split() if word != "and"]

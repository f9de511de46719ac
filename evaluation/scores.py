"""Measures of one question's result, as defined in `docs/own-questions.md`, and statistics over questions; pure.
The measures of supports are in `retrieval.supports`.

Measures of one result are fractions from 0 to 1. Measures of rankings whose passages have grades are computed by
`ir_measures`, which the extra `eval` installs. The paired bootstrap says how far a mean difference may be due to the
choice of questions. `Separation` has the threshold between the questions that a corpus answers and the others.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from statistics import median_low
from types import ModuleType

import numpy as np

from core.errors import InvalidSettings
from core.text.answers import normalise_answer


def distinct(ranking: Iterable[str]) -> tuple[str, ...]:
    """Returns each key once, at its first place."""
    return tuple(dict.fromkeys(ranking))


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
    """Returns 1 if the texts contain an answer of every part, as `contains_answer` does for one part."""
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


_MEASURES = {
    "ndcg@10": "nDCG@10",
    "map@100": "AP@100",
    "precision@5": "P@5",
    "precision@10": "P@10",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@100": "R@100",
}

GRADED_MEASURES = tuple(_MEASURES)

_INSTALL = 'pip install "hopweave[eval]" (or uv tool install "hopweave[eval]")'
_QUERY = "q"


def check_graded_measures() -> None:
    """Raises `InvalidSettings` if the extra `eval` is not installed."""
    _load()


def measure_graded(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Returns each measure of a ranking of passage ids, best first; passages without a grade are not relevant."""
    library = _load()
    judged = [library.Qrel(_QUERY, key, grade) for key, grade in grades.items()]
    ranked = [library.ScoredDoc(_QUERY, key, float(-place)) for place, key in enumerate(ranking)]
    measures = {library.parse_measure(name): metric for metric, name in _MEASURES.items()}
    scores = dict.fromkeys(GRADED_MEASURES, 0.0)
    scores.update(
        {measures[metric.measure]: float(metric.value) for metric in library.iter_calc(measures, judged, ranked)}
    )
    return scores


def _load() -> ModuleType:
    try:
        import ir_measures
        import pytrec_eval  # noqa: F401 - computes all of these measures
    except (ImportError, OSError) as error:  # OSError: a system library that it links to is missing
        raise InvalidSettings(
            f"questions with grades are measured with ir_measures, which cannot be loaded ({error}): {_INSTALL}"
        ) from error
    return ir_measures


LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean difference, and the range in which `level` of the means lie when the questions are resampled."""

    mean: float
    low: float
    high: float

    @property
    def clear_of_zero(self) -> bool:
        """Whether the interval is on one side of zero; if not, the difference may be noise."""
        return self.low > 0 or self.high < 0


def bootstrap_interval(
    differences: Sequence[float], *, seed: int, resamples: int = 10_000, level: float = LEVEL
) -> Interval:
    """Returns the mean of paired differences with its percentile interval; at least one difference is required.

    Questions are drawn with replacement, as many as there are. Equal differences are interchangeable, so their counts
    are drawn: the distribution is the same, and memory depends on the number of different values.
    """
    values, counts = np.unique(np.asarray(differences, dtype=np.float64), return_counts=True)
    asked = len(differences)
    drawn = np.random.default_rng(seed).multinomial(asked, counts / asked, size=resamples)
    low, high = np.quantile(drawn @ values / asked, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean=_round(float(np.mean(differences))), low=_round(float(low)), high=_round(float(high)))


def _round(value: float) -> float:
    """Returns the value rounded to 12 digits: thirds and quarters that cancel leave 1e-17, and an end at zero must be
    zero (and not -0.0).
    """
    return round(value, 12) + 0.0


_STEP = 100


@dataclass(frozen=True, kw_only=True)
class Separation:
    """One number for each question that the corpus answers, and for each question that it does not answer."""

    answerable: tuple[float, ...] = field(default=())
    unanswerable: tuple[float, ...] = field(default=())

    def plus(self, other: "Separation") -> "Separation":
        return Separation(
            answerable=self.answerable + other.answerable, unanswerable=self.unanswerable + other.unanswerable
        )

    def at(self, threshold: float) -> "ThresholdPoint":
        return ThresholdPoint(
            threshold=threshold,
            answered=mean([float(value >= threshold) for value in self.answerable]),
            abstained=mean([float(value < threshold) for value in self.unanswerable]),
        )


@dataclass(frozen=True, kw_only=True)
class ThresholdPoint:
    """The share of answerable questions at or above a threshold, and of unanswerable questions below it."""

    threshold: float
    answered: float
    abstained: float

    @property
    def balanced_accuracy(self) -> float:
        return (self.answered + self.abstained) / 2


def compute_curve(values: Separation) -> list[ThresholdPoint]:
    """Returns the points at each hundredth between the least and the greatest value."""
    every = (*values.answerable, *values.unanswerable)
    first, last = int(_STEP * min(every)), int(_STEP * max(every)) + 1
    return [values.at(step / _STEP) for step in range(first, last + 1)]


def choose_threshold(values: Separation) -> ThresholdPoint:
    """Returns the point with the best balanced accuracy, or the middle of several such points."""
    curve = compute_curve(values)
    best = max(point.balanced_accuracy for point in curve)
    threshold = median_low([point.threshold for point in curve if point.balanced_accuracy >= best - 1e-9])
    return values.at(threshold)


def hold_out(values: Separation, seed: int) -> tuple[Separation, Separation]:
    """Returns two random halves of both kinds of questions."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    answerable = draw.sample(values.answerable, len(values.answerable))
    unanswerable = draw.sample(values.unanswerable, len(values.unanswerable))
    a, u = len(answerable) // 2, len(unanswerable) // 2
    return (
        Separation(answerable=tuple(answerable[:a]), unanswerable=tuple(unanswerable[:u])),
        Separation(answerable=tuple(answerable[a:]), unanswerable=tuple(unanswerable[u:])),
    )

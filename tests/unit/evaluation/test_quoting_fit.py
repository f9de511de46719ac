"""The benchmark of quoting: when a quote is right, and the fit of the weights."""

import numpy as np

from core.documents import Span
from reasoning.strategies.extractive.quoting.evidence import COSINES, FEATURES
from reasoning.strategies.extractive.quoting.units import Unit
from testing.word_search import hit
from tests.benchmarks.materials.gold import LineNeed, QuoteNeed
from tests.benchmarks.materials.logistic import AskedUnits, Sort, fit_weights, judge
from tests.benchmarks.materials.quoting import AnswerNeed, is_right


def unit_of(text: str, words: str) -> Unit:
    start = text.index(words)
    return Unit(
        hit=hit("a.txt", "", text), rank=0, span=Span(start=start, end=start + len(words)), text=words,
        stems=frozenset(), beside=frozenset(), is_row=False,
    )  # fmt: skip


def test_a_quote_is_right_if_it_overlaps_the_line() -> None:
    text = "The first sentence. The\n  second one is\nhere. The third sentence."
    need = LineNeed(lines=(("a.txt", "second one is here"),))
    assert is_right(need, unit_of(text, "The\n  second one is\nhere."))
    assert not is_right(need, unit_of(text, "The first sentence."))
    assert not is_right(need, unit_of(text, "The third sentence."))
    other = LineNeed(lines=(("b.txt", "second one is here"),))
    assert not is_right(other, unit_of(text, "The\n  second one is\nhere."))


def test_a_quote_is_right_if_it_has_half_of_the_words_or_the_answer() -> None:
    unit = unit_of("The fee is 345 euros, net.", "The fee is 345 euros, net.")
    assert is_right(QuoteNeed(source="a.txt", words=frozenset({"fee", "euros", "gross", "due"})), unit)
    assert not is_right(QuoteNeed(source="a.txt", words=frozenset({"fee", "rent", "gross"})), unit)
    assert is_right(AnswerNeed(answers=("345 euros",), keys=frozenset({"a.txt"})), unit)
    assert not is_right(AnswerNeed(answers=("345 euros",), keys=frozenset({"b.txt"})), unit)


def asked(sort: Sort, number: int) -> AskedUnits:
    """The right unit has the words, and a question that is not answered lacks them everywhere."""
    features = np.random.default_rng(number).normal(0, 0.1, (6, len(FEATURES)))
    right = np.zeros(6, np.bool_)
    if sort is Sort.ANSWERABLE:
        right[number % 6] = True
        features[number % 6, FEATURES.index("in_unit")] += 1
    else:
        features[:, FEATURES.index("found_nowhere")] += 1
    return AskedUnits(
        kind="k", group="k", sort=sort, question="", features=features, right=right, texts=(), held=bool(right.any())
    )


def test_the_fit_finds_what_tells() -> None:
    every = [asked(sort, number) for sort in (Sort.ANSWERABLE, Sort.NEAR, Sort.FAR) for number in range(40)]
    for has_cosines in (True, False):
        weights = fit_weights(every, has_cosines=has_cosines)
        decided = [one.decide(weights, has_cosines=has_cosines) for one in every]
        found = judge(decided, 0.5)
        assert found["right, if held"] > 0.9
        assert found["declined, though held"] < 0.1
        assert found["near: declined"] > 0.9
        assert weights.rank[FEATURES.index("in_unit")] > 0
        assert weights.answerable[FEATURES.index("found_nowhere")] < 0
    assert not any(weights.rank[-COSINES:])

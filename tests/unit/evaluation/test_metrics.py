"""Cases worked out by hand."""

import pytest

from core.text.answers import normalise_answer
from evaluation.scores import (
    contains_answer,
    contains_parts,
    distinct,
    exact_match,
    exact_match_of_parts,
    mean,
    percentile,
    token_f1,
    token_f1_of_parts,
)
from retrieval.supports import all_recall, precision, recall, reciprocal_rank

RANKING: list[set[str]] = [{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}]


@pytest.mark.parametrize(
    ("supporting", "k", "expected"),
    [
        ({"a", "c"}, 2, 0.5),
        ({"a", "c"}, 3, 1.0),
        ({"f"}, 5, 0.0),
        ({"f"}, 10, 1.0),
        ({"a", "b", "x", "y"}, 5, 0.5),
        ({"a"}, 0, 0.0),
    ],
)
def test_recall_is_the_share_of_what_supports(supporting: set[str], k: int, expected: float) -> None:
    assert recall(RANKING, supporting, k) == expected


def test_all_recall_forgives_nothing() -> None:
    assert all_recall(RANKING, {"a", "e"}, 5) == 1.0
    assert all_recall(RANKING, {"a", "f"}, 5) == 0.0
    assert all_recall((), {"a"}, 5) == 0.0


def test_what_is_shown_twice_is_found_once_and_one_place_may_show_several() -> None:
    assert recall([{"a"}, {"a"}, {"b", "c"}], {"a", "b", "c", "d"}, 2) == 0.25
    assert recall([{"a"}, {"a"}, {"b", "c"}], {"a", "b", "c", "d"}, 3) == 0.75
    assert all_recall([set(), {"a", "b"}], {"a", "b"}, 2) == 1.0


@pytest.mark.parametrize(
    ("shown", "expected"), [([{"a"}], 1.0), ([set(), set(), {"c"}, {"d"}], 1 / 3), ([set()], 0.0), ([], 0.0)]
)
def test_reciprocal_rank_is_that_of_the_first(shown: list[set[str]], expected: float) -> None:
    assert reciprocal_rank(shown) == expected


def test_precision() -> None:
    assert precision([{"a", "b"}, set(), set(), set()]) == 0.25
    assert precision([]) == 0.0
    assert distinct(["a", "a", "b", "a", "c", "b"]) == ("a", "b", "c"), "the first is kept"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Anglican Communion.", "anglican communion"),
        ("an apple, a day", "apple day"),
        ("U.S.", "us"),
        ("Theatre", "theatre"),
        ("A", ""),
        ("Ø 30 €", "ø 30 €"),
    ],
)
def test_answers_are_normalised_as_squad_does(text: str, expected: str) -> None:
    assert normalise_answer(text) == expected


def test_exact_match_takes_any_answer() -> None:
    assert exact_match("the Stanley Hall!", ["G. Stanley Hall", "Stanley Hall"]) == 1.0
    assert exact_match("Hall", ["G. Stanley Hall", "Stanley Hall"]) == 0.0


def test_f1_counts_shared_tokens_and_takes_the_best_answer() -> None:
    # "stanley hall of fame" and "stanley hall" share 2 of 4 and 2 of 2 tokens
    assert token_f1("Stanley Hall of Fame", ["Stanley Hall", "Carl Rogers"]) == pytest.approx(2 * 2 / 6)
    assert token_f1("new new york", ["new york"]) == pytest.approx(2 * 2 / 5)
    assert token_f1("", ["Rome"]) == 0.0
    assert token_f1("Rome", []) == 0.0


def test_an_answer_is_contained_in_one_text_not_across_two() -> None:
    assert contains_answer(["He was born in the city of Rome."], ["City of Rome"]) == 1.0
    assert contains_answer(["in the city of", "Rome"], ["city of Rome"]) == 0.0
    assert contains_answer(["a the an"], ["The"]) == 0.0
    assert contains_answer([], ["Rome"]) == 0.0


def test_percentiles_are_linear_between_ranks_and_of_nothing_zero_as_the_mean_is() -> None:
    values = [40.0, 10.0, 20.0, 30.0]
    found = [percentile(values, share) for share in (0.5, 0.0, 1.0, 0.95)]
    assert found == pytest.approx([25.0, 10.0, 40.0, 38.5])
    assert (percentile([7.0], 0.95), percentile([], 0.5)) == (7.0, 0.0)
    assert (mean([]), mean([1.0, 0.0, 0.5])) == (0.0, 0.5)


PARTS = (("1967",), ("S. E. Hinton", "Susan Hinton"))


@pytest.mark.parametrize(
    ("prediction", "exact", "f1"),
    [
        ("1967; S. E. Hinton", 1.0, 1.0),
        ("Susan Hinton and 1967", 1.0, 1.0),
        ("1967, and Susan Hinton.", 1.0, 1.0),
        ("1967", 0.0, 0.5),
        ("1967; S. E. Hinton; Tex", 0.0, pytest.approx(8 / 9)),
        ("1967 1967", 0.0, 0.4),
        ("", 0.0, 0.0),
    ],
)
def test_an_answer_of_parts_lists_one_answer_of_each_in_any_order(prediction: str, exact: float, f1: float) -> None:
    assert exact_match_of_parts(prediction, PARTS) == exact
    assert token_f1_of_parts(prediction, PARTS) == f1


def test_one_part_is_compared_as_ever() -> None:
    for prediction in ("Lock and Key", "Lock Key", ""):
        assert exact_match_of_parts(prediction, [["Lock and Key"]]) == exact_match(prediction, ["Lock and Key"])
        assert token_f1_of_parts(prediction, [["Lock and Key"]]) == token_f1(prediction, ["Lock and Key"])
    assert exact_match_of_parts("anything", [()]) == token_f1_of_parts("anything", [()]) == 0.0


def test_texts_contain_all_parts_or_none() -> None:
    assert contains_parts(["It is of 1967.", "By Susan Hinton."], PARTS) == 1.0
    assert contains_parts(["It is of 1967.", "1967"], PARTS) == 0.0
    assert contains_parts(["It is of 1967."], [("1967",)]) == 1.0
    assert contains_parts(["It is of 1967."], [()]) == 0.0

"""Which pairs of answers say the same, which do not, and which a text does not decide."""

import pytest

from reasoning.verification.sameness import compare_answers

_SAME = [
    ("Paris", "paris."),
    ("Paris", "in Paris"),
    ("the Eiffel Tower", "Eiffel Tower"),
    ("Paris", "Paris (France)"),
    ("“Paris”", "Paris"),
    ("S. E. Hinton", "S.E. Hinton"),
    ("coming-of-age novel", "coming of age novel"),
    ("1 May 1990", "May 1, 1990"),
    ("1990-05-01", "1st of May 1990"),
    ("1990", "on 1 May 1990"),
    ("May 1990", "1 May 1990"),
    ("two", "2"),
    ("1,200", "1200"),
    ("Yes", "Yes, both are."),
    ("北京", "北京。"),
    ("ﬁve", "5"),
]
_DIFFERENT = [
    ("1991", "1 May 1990"),
    ("2 May 1990", "1 May 1990"),
    ("1200", "1201"),
    ("-5", "5"),
    ("1.5", "15"),
    ("Yes.", "No, only one is."),
]
_UNDECIDED = [
    ("Paris", "London"),
    ("Myanmar", "Burma"),
    ("New York", "New York Times"),
    ("George III", "King George III"),
    ("Paris", "Paris, London"),
    ("Paris", "not Paris"),
    ("Paris", "Paris or London"),
    ("C", "C++"),
    ("vitamin", "vitamin A"),
    ("12", "12 or 13"),
    ("北京", "北京市"),
    ("art", "party"),
    ("", "Paris"),
    ("???", "!!!"),
    ("Michael Jordan (basketball player)", "Michael Jordan (professor)"),
]


@pytest.mark.parametrize(("one", "other"), _SAME)
def test_the_same(one: str, other: str) -> None:
    assert compare_answers(one, other) is True
    assert compare_answers(other, one) is True


@pytest.mark.parametrize(("one", "other"), _DIFFERENT)
def test_another_answer(one: str, other: str) -> None:
    assert compare_answers(one, other) is False
    assert compare_answers(other, one) is False


@pytest.mark.parametrize(("one", "other"), _UNDECIDED)
def test_what_only_a_reader_can_decide(one: str, other: str) -> None:
    assert compare_answers(one, other) is None
    assert compare_answers(other, one) is None

"""What changed between two texts: clauses that are found again, and the words that changed in them."""

from collections.abc import Iterator

import pytest

from core.errors import LoadFailed
from core.execution.limits import WorkLimit
from core.validity import differences
from core.validity.differences import MOST_CHARACTERS, MOST_CLAUSES, Clause, compare_texts, split_clauses

OLD = """# Travel Policy 2021

This Policy takes effect on 1 March 2021.

## Hotels

The hotel limit is 110 euros per night.

## Trains

Staff travel second class.

## Meals

Nothing is paid for meals.
"""
NEW = """# Travel Policy 2024

This Policy takes effect on 1 May 2024.

## Hotels

The hotel limit is 145 euros per night.

## Hire cars

Cars are hired with the approval of the head of the department.

## Meals

Nothing  is paid
for meals.
"""


def show(old: str, new: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    changes, _ = compare_texts(old, new)
    return [
        (change.kind, (change.new or change.old or split_clauses("x")[0]).name, [(w.old, w.new) for w in change.words])
        for change in changes
    ]


def test_clauses_are_matched_by_heading_and_their_words_compared() -> None:
    assert show(OLD, NEW) == [
        ("changed", "Travel Policy 2024", [("2021", "2024"), ("March 2021.", "May 2024.")]),
        ("changed", "Hotels", [("110", "145")]),
        ("added", "Hire cars", []),
        ("removed", "Trains", []),
    ]
    assert compare_texts(OLD, NEW)[1] == 1
    assert compare_texts(OLD, OLD) == ([], 4)


@pytest.mark.parametrize("sign", ["Article {}. ", "§ {} ", "{}. ", "Section {}: ", "**Artikel {}** ", "4.{} "])
def test_a_clause_is_found_again_under_another_number(sign: str) -> None:
    first = "The levy of Belvane is 4.20 crowns per tonne of cargo, and it is due on arrival of the ship."
    second = "Whoever is late pays interest of two per cent a month from the day on which the levy was due."
    between = "Fishing boats below ten metres, and boats of the harbour master, are exempt from this duty."
    old = f"{sign.format(1)}{first}\n\n{sign.format(2)}{second}\n"
    new = f"{sign.format(1)}{first.replace('4.20', '5.75')}\n\n{sign.format(2)}{between}\n\n{sign.format(3)}{second}\n"
    (changed, added), unchanged = compare_texts(old, new)
    assert [(word.old, word.new) for word in changed.words] == [("4.20", "5.75")]
    assert (added.kind, unchanged) == ("added", 1)
    assert added.new is not None
    assert added.new.text == between


def test_a_sentence_that_begins_with_a_number_in_a_line_is_no_clause() -> None:
    assert len(split_clauses("The fee is\n110 euros per night.\n2024 was a leap year.\n12/2019 is repealed.\n")) == 1


def test_a_number_with_another_text_is_another_clause() -> None:
    old, new = "1. The fee is waived for members.\n", "1. Smoking on board remains prohibited at any time.\n"
    preamble = "These are the rules of the club.\n\n"
    assert [kind for kind, _, _ in show(preamble + old, preamble + new)] == ["added", "removed"]


def test_long_texts_and_many_clauses_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(f"## Clause {number}\n\nText.\n\n" for number in range(MOST_CLAUSES + 10))
    assert len(split_clauses(many)) == MOST_CLAUSES
    assert len(split_clauses("x" * (MOST_CHARACTERS + 10))[0].text) == MOST_CHARACTERS
    monkeypatch.setattr(differences, "_MOST_COMPARISONS", 10)
    old = "## Fee\n\nThe fee is 4 crowns per tonne. It is due on arrival.\n"
    words = [("The fee is 4 crowns per tonne.", "The fee is 5 crowns per tonne.")]
    (_, _, found) = show(old, old.replace("4", "5"))[0]
    assert [(before.removeprefix("Fee "), after.removeprefix("Fee ")) for before, after in found] == words


def _count_scored(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> list[int]:
    """Returns the words of the shorter clause of each pair whose words are counted."""
    counted: list[int] = []
    compare = differences._compare_counts

    def count(first: Clause, second: Clause) -> float:
        counted.append(min(first.size, second.size))
        return compare(first, second)

    monkeypatch.setattr(differences, "_compare_counts", count)
    compare_texts(old, new)
    return counted


def test_a_long_clause_is_not_scored_against_each_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "1. " + " ".join(f"duty{number}" for number in range(5_000)) + ".\n"
    short = "".join(f"{number}. The fee of case duty{number} is due at once.\n" for number in range(2, 122))
    assert _count_scored(monkeypatch, long, short) == [9]  # both come first


def test_clauses_without_a_heading_or_a_number_have_no_sign_of_it() -> None:
    numbered, named, neither = (
        Clause(number="4", heading="", text="A"),
        Clause(number="", heading="B", text="C"),
        Clause(number="", heading="", text="D"),
    )
    assert list(differences._signs(numbered, 3)) == ["number 4", "word a"]
    assert list(differences._signs(named, 3)) == ["heading b", "word b", "word c"]
    assert list(differences._signs(neither, 0)) == ["first", "word d"]


def test_of_many_clauses_with_one_heading_the_nearest_are_looked_at() -> None:
    class Places(list[int]):
        """Refuses to be read whole, which would cost a square."""

        def __iter__(self) -> Iterator[int]:
            raise AssertionError

    assert sorted(differences._find_nearest(Places(range(10_000)), 5_000)) == [*range(4_996, 5_004)]
    assert sorted(differences._find_nearest(Places(range(10_000)), 0)) == [*range(8)]
    assert sorted(differences._find_nearest(Places(range(0, 10_000, 100)), 9_999)) == [*range(9_200, 10_000, 100)]


def test_beyond_the_bound_only_equal_clauses_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "_MOST_SCORED", 0)
    changes, unchanged = compare_texts(OLD, NEW)
    assert unchanged == 1
    assert {change.kind for change in changes} == {"added", "removed"}


def test_nobody_who_left_is_compared_for() -> None:
    limit = WorkLimit("a.md", 60, "")

    def compare() -> None:
        with limit.running():
            limit.end()
            compare_texts(OLD, NEW)
            pytest.fail("it was compared whole")

    with pytest.raises(LoadFailed):
        compare()

"""What changed between two texts: clauses that are found again, and the words that changed in them."""

import pytest

from core.validity import differences
from core.validity.differences import MOST_CHARACTERS, MOST_CLAUSES, compare_texts, split_clauses

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

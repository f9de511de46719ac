"""What changed between two texts: clauses that are found again, and the words that changed in them."""

from collections.abc import Iterator

import pytest

from core.errors import LoadFailed
from core.execution.limits import WorkLimit
from core.validity import differences
from core.validity.differences import MOST_CHARACTERS, MOST_CLAUSES, Clause, Comparison, compare_texts, split_clauses

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
    found: list[tuple[str, str, list[tuple[str, str]]]] = []
    for change in compare_texts(old, new).changes:
        named = change.new or change.old
        assert named is not None
        found.append((change.kind, named.name, [(words.old, words.new) for words in change.words]))
    return found


def test_clauses_are_matched_by_heading_and_their_words_compared() -> None:
    assert show(OLD, NEW) == [
        ("changed", "Travel Policy 2024", [("2021", "2024"), ("March 2021.", "May 2024.")]),
        ("changed", "Hotels", [("110", "145")]),
        ("added", "Hire cars", []),
        ("removed", "Trains", []),
    ]
    assert compare_texts(OLD, NEW).unchanged == 1
    assert compare_texts(OLD, OLD) == Comparison(changes=(), unchanged=4, cut=False)


@pytest.mark.parametrize("sign", ["Article {}. ", "§ {} ", "{}. ", "Section {}: ", "**Artikel {}** ", "4.{} "])
def test_a_clause_is_found_again_under_another_number(sign: str) -> None:
    first = "The levy of Belvane is 4.20 crowns per tonne of cargo, and it is due on arrival of the ship."
    second = "Whoever is late pays interest of two per cent a month from the day on which the levy was due."
    between = "Fishing boats below ten metres, and boats of the harbour master, are exempt from this duty."
    old = f"{sign.format(1)}{first}\n\n{sign.format(2)}{second}\n"
    new = f"{sign.format(1)}{first.replace('4.20', '5.75')}\n\n{sign.format(2)}{between}\n\n{sign.format(3)}{second}\n"
    found = compare_texts(old, new)
    changed, added = found.changes
    assert [(word.old, word.new) for word in changed.words] == [("4.20", "5.75")]
    assert (added.kind, found.unchanged) == ("added", 1)
    assert added.new is not None
    assert added.new.text == between


@pytest.mark.parametrize(
    "text",
    [
        "The fee is\n110 euros per night.\n2024 was a leap year.\n12/2019 is repealed.\n",
        "This requirement modifies the requirement of section\n7. This applies to the whole work.\n",
        "The increase of the price of\n3.5 percent of the price is due.\n",
        "Die Frist endet am\n1. Mai 2024 um zwölf Uhr.\n",
        "The licence of section\n13, concerning networks, will apply.\n",
        "Prices rise.\n3.5 percent are due.\n",
        "```\n# no heading\n```\n",
    ],
)
def test_a_number_within_a_sentence_begins_no_clause(text: str) -> None:
    assert len(split_clauses(text)[0]) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1. Hotels 110 EUR\n2. Trains 50 EUR\n", "1. Hotels 145 EUR\n2. Trains 50 EUR\n"),
        ("1. Hotels 110 EUR\n", "1. Hotels 110 EUR\n2. The buyer waives all claims\n"),
        ("# Policy\n## Breakfast: 10 EUR\n", "# Policy\n## Breakfast: 12 EUR\n"),
        ("# Policy\n## Fees\n\nNone.\n", "# Evil\n## Fees\n\nNone.\n"),
        ("The price rises by\n3.5 percent.\n", "The price rises by\n9.5 percent.\n"),
        ("```\n# rate 3\n```\n", "```\n# rate 4\n```\n"),
        ("Fees\n====\n\nNone.\n", "Fines\n=====\n\nNone.\n"),
        ("4. -5 degrees are allowed.\n", "4. 5 degrees are allowed.\n"),
        ("# C#\n\nNone.\n", "# C\n\nNone.\n"),
        (f"# {'a ' * 200}fee\n", f"# {'a ' * 200}fine\n"),
    ],
)
def test_each_change_is_told(old: str, new: str) -> None:
    assert compare_texts(old, new).changes


def test_underlined_titles_and_lines_that_end_otherwise_begin_clauses() -> None:
    clauses, _ = split_clauses("Fees\n====\r\nNone.\r\rFines\r-----\rMany.\r\n1. Scope.\n2. Term\n")
    names = [(clause.name, clause.text) for clause in clauses]
    assert names == [("Fees", "None."), ("Fines", "Many."), ("1", "Scope."), ("2 Term", "")]


def test_a_number_with_another_text_is_another_clause() -> None:
    old, new = "1. The fee is waived for members.\n", "1. Smoking on board remains prohibited at any time.\n"
    preamble = "These are the rules of the club.\n\n"
    assert [kind for kind, _, _ in show(preamble + old, preamble + new)] == ["added", "removed"]


def test_long_texts_and_many_clauses_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(f"## Clause {number}\n\nText.\n\n" for number in range(MOST_CLAUSES + 10))
    clauses, is_whole = split_clauses(many)
    assert (len(clauses), is_whole) == (MOST_CLAUSES, False)
    assert (clauses[-1].name, clauses[-1].text.count("## Clause")) == ("", 11)
    found = compare_texts(many, "## New\n\nA new one.\n\n" + many)
    assert found.cut
    assert (found.changes[0].kind, found.changes[-1].kind) == ("added", "changed")
    clauses, is_whole = split_clauses("x" * (MOST_CHARACTERS + 10))
    assert (len(clauses[0].text), is_whole) == (MOST_CHARACTERS, False)
    monkeypatch.setattr(differences, "_MOST_WORDS", 10)
    old = "## Fee\n\nThe fee is 4 crowns per tonne. It is due on arrival.\n"
    words = [("The fee is 4 crowns per tonne.", "The fee is 5 crowns per tonne.")]
    (_, _, said) = show(old, old.replace("4", "5"))[0]
    assert [(before.removeprefix("Fee "), after.removeprefix("Fee ")) for before, after in said] == words
    monkeypatch.setattr(differences, "_MOST_WORDS", 1)
    assert len(show(old, old.replace("4", "5"))[0][2]) == 1


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
    found = compare_texts(OLD, NEW)
    changes, unchanged = found.changes, found.unchanged
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

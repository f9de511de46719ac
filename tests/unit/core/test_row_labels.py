"""Labels of the rows of tables among the terms of a passage."""

import numpy as np
import pytest

from core.passage_context import other_words
from core.passage_context.other_words import find_said_labels
from core.passage_context.row_labels import find_row_labels
from core.text.terms import extract_terms, hash_label, hash_stem, split_words

TABLE = """Net sales by category | 2023 | 2022
iPhone (1) | $39,669 | $40,665
Total net sales | 81,797 | 82,959
Research and development expense | 7,442 | 6,797
| Wear ring | 2 |
Country: Japan | Volts: 100
2023 | 12 | 13
A sentence that is much longer than the label of any row could ever be, as it goes on and on | 5 | 6
Nothing follows |
Mode | off or on | how it runs
No table here.
"""


def stems(words: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(words))


def test_labels_are_first_cells_beside_an_amount_without_numbers_and_words_for_sums() -> None:
    labels = ("iPhone", "net sales", "research development expense", "wear ring", "Japan")
    assert find_row_labels(TABLE) == {stems(label) for label in labels}
    assert find_row_labels("Prose without a table; total net sales are 5.") == set()


def test_a_label_is_a_term_that_counts_no_word() -> None:
    plain, labelled = extract_terms(["a"], TABLE), extract_terms(["a"], TABLE, find_row_labels(TABLE))
    assert plain["count"].sum() == labelled["count"].sum()
    labels = labelled[labelled["count"] == 0]["stem"].tolist()
    assert hash_label(["sale", "net"]) in labels
    assert hash_label(["net", "sale"]) in labels
    assert hash_stem("sale") not in labels
    assert np.all(np.diff(labelled["stem"].astype(np.int64)) > 0)


def test_a_stem_knows_how_long_the_shortest_label_is_that_has_it() -> None:
    found = extract_terms(["Sales"], TABLE, find_row_labels(TABLE))
    place = {row["stem"]: int(row["place"]) for row in found}
    assert place[hash_stem("develop")] == 3 << 1
    assert place[hash_stem("sale")] == 2 << 1 | 1, "the title has it, too"
    assert place[hash_stem("sentenc")] == 0


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("How has total net sales trended?", ["net sales", "revenue", "sales"], ["cost revenue", "gross profit"]),
        ("What was the cost of sales?", ["cost revenue", "cost goods sold"], ["revenue", "sales"]),
        ("How does R&D spending compare?", ["research development"], []),
        ("What is the stockholders' equity?", ["shareholders equity", "equity"], []),
        ("Wie hoch war der Umsatz?", ["Umsatzerlöse"], ["Rohertrag"]),
        ("Wie hoch war der Umsatz von Norwick?", ["net sales", "revenue"], ["gross profit"]),
        ("What was the headcount at year end?", ["Mitarbeiter", "employees"], ["revenue"]),
        ("How many people live in Paris?", [], ["revenue"]),
        ("Who leads the sales team, and what is the staff turnover?", [], ["revenue", "net sales"]),
    ],
)
def test_a_question_says_the_labels_of_other_companies(question: str, said: list[str], unsaid: list[str]) -> None:
    found = find_said_labels(question)
    assert {stems(label) for label in said} <= found
    assert not found & {stems(label) for label in unsaid}


def test_each_term_is_in_one_group_and_has_words() -> None:
    lines = [*other_words._STATEMENTS.split("\n")[1:-1], *other_words._PERIODS_AND_OFFICES.split("\n")[1:-1]]
    of_lines = [{other_words._split(term) for term in line.split(";") if "(" not in term[:2]} for line in lines]
    assert () not in set().union(*of_lines)
    assert sum(map(len, of_lines)) == len(other_words._read_groups())

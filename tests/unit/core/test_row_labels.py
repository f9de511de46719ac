"""Labels of the rows of tables among the terms of a passage."""

import numpy as np

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
No table here.
"""


def stems(words: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(words))


def test_labels_are_first_cells_without_numbers_and_words_for_sums() -> None:
    assert find_row_labels(TABLE) == {
        stems("net sales category"),
        stems("iPhone"),
        stems("net sales"),
        stems("research development expense"),
        stems("wear ring"),
        stems("Japan"),
    }
    assert find_row_labels("Prose without a table; total net sales are 5.") == set()


def test_a_label_is_a_term_that_counts_no_word() -> None:
    plain, labelled = extract_terms(["a"], TABLE), extract_terms(["a"], TABLE, find_row_labels(TABLE))
    assert plain["count"].sum() == labelled["count"].sum()
    labels = labelled[labelled["count"] == 0]["stem"].tolist()
    assert hash_label(["sale", "net"]) in labels
    assert hash_label(["net", "sale"]) in labels
    assert hash_stem("sale") not in labels
    assert np.all(np.diff(labelled["stem"].astype(np.int64)) > 0)

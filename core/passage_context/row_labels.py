"""Labels of the rows of a text's tables, as stems: `Total net sales | 81,797 | 82,959` has the label `net sales`.

A question often says the label of the row that answers it. The terms of a passage (`core.text.terms`) tell whether it
has such a row, without reading it.
"""

from collections.abc import Iterator

from core.passage_context.tables import BAR, are_fields, is_amount, is_row, split_cells
from core.text.terms import split_words
from core.text.value_kinds import find_stems

MOST_STEMS = 4
"""Stems of a label; a longer first cell is a text."""
_LONGEST = 80
SUM_WORDS = find_stems("total subtotal sum Gesamt Summe Zwischensumme somme")


def find_row_labels(text: str) -> set[frozenset[str]]:
    """Returns the stems of each label with an amount beside it, without numbers and words for sums.

    A row of words is a header, or a list of settings and what they mean; its first cell is no label of a value.
    """
    return set(_read_labels(text)) if BAR in text else set()


def _read_labels(text: str) -> Iterator[frozenset[str]]:
    for line in text.splitlines():
        if BAR not in line or not is_row(line):
            continue
        first, *others = cells = split_cells(line)
        if are_fields(cells):
            first, *others = (cell.partition(": ")[2] for cell in cells)
        if len(first) <= _LONGEST and any(map(_has_amount, others)):
            stems = frozenset(word.stem for word in split_words(first) if not any(map(str.isdigit, word.stem)))
            if 1 <= len(stems - SUM_WORDS) <= MOST_STEMS:
                yield stems - SUM_WORDS


def _has_amount(cell: str) -> bool:
    return is_amount(cell) and any(map(str.isdigit, cell))

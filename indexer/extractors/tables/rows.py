"""The facts that the rows of tables state: whose fact it is, how its relation is worded, and which cells are values.

A row is about its label if that is a name and no other row has it: `Bo Larsen`, `City`, `Ulm`. Otherwise it is about
what the document is about, and the relation has the label: `Apple Inc.`, `Net sales, 2023 (in millions)`, `81,797`.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from core.documents import HEADING_SEPARATOR
from core.graph import Triple
from core.passage_context import read_grids
from core.passage_context.grids import GridRow, TextGrid
from core.passage_context.tables import is_amount, is_date
from core.text.names import normalise
from core.text.titles import one_line
from indexer.extractors.tables.surroundings import TableHead, find_unit

_MOST_FACTS = 100
"""Facts of a chunk."""
_MOST_OF_ROW = 12
"""Facts of a row: a wider table is a matrix of figures."""
_LONGEST_RELATION = 120
_LONGEST_NAME, _LONGEST_VALUE = 60, 60
_MOST_WORDS = 8
"""Words of a name or value; more are a text."""
_FEWEST_DIGITS = 3
"""Digits of a bare number that is an end of a fact. The number 2 would join all rows that have it."""

_PLAIN_NUMBER = re.compile(r"[-+−(]?\d{1,2}\)?")
_NO_VALUE = frozenset(
    {"n/a", "na", "nan", "none", "null", "nil", "yes", "no", "true", "false", "ja", "nein", "oui", "non"}
)
_SUM = re.compile(r"(?:\(\d+\) )?(?:sub-?|grand |net |gross )?total|sum\b|gesamt|summe|somme", re.IGNORECASE)
_OF_CONTENTS = frozenset({"page", "pages", "seite"})
"""Names of a column of a table of contents, which states nothing."""
_NAMING = re.compile(r"name|title|label|bezeichnung|titel|nom\b", re.IGNORECASE)
"""The name of the column that names the rows, if the first column has their numbers."""
_NO_TEXT = re.compile(r"\A(?:=.|@\w{1,20}\()|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|</?[a-z!]", re.IGNORECASE)
"""Formulas of spreadsheets, and cells with control characters, changes of the direction of writing, or markup."""
_WORD = re.compile(r"[^\W\d_]{2}")
_UNNAMED = re.compile(r"column \d+|unnamed.*|#|no\.?|nr\.?|id|%", re.IGNORECASE)
"""Names of columns that tell nothing of a value."""
_VALUES = frozenset({"value", "values", "amount", "wert", "werte", "betrag", "valeur", "montant"})
"""Names of columns that only say that a value stands there."""
_NOT_IN_UNIT = re.compile(r"%|per[ -]share|\bshares?\b|\brates?\b|percent|\byears?\b|\bdays?\b|je Aktie", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What the rest of a document tells about the tables of a passage.

    `title`: what the document is about ('' if that is no name). `names`: the places of names in the passage. `fields`:
    names of fields that several rows of the document have. `repeated`: labels that several of such rows have.
    """

    head: TableHead = field(default_factory=TableHead)
    title: str = ""
    names: Sequence[tuple[int, int]] = ()
    fields: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


def read_facts(text: str, around: Surroundings) -> tuple[Triple, ...]:
    """Returns the facts of the tables of a passage, each once, in the order of the text."""
    head = around.head
    above = head.text if not head.text or head.text.endswith("\n") else f"{head.text}\n"
    whole, shift = above + text, len(above)
    names = sorted((start + shift, end + shift) for start, end in around.names)
    found: dict[Triple, None] = {}
    for number, grid in enumerate(read_grids(whole, is_cut=head.is_cut and not above)):
        rows = [row for row in grid.rows if row.start >= shift]
        goes_on = head.is_cut and not number
        unit = head.unit if goes_on else find_unit(whole, grid.start, rows[0].start if rows else grid.start)
        table = _Table(whole, replace(grid, rows=tuple(rows)), unit, replace(around, names=names))
        found |= dict.fromkeys(islice(table.facts(), _MOST_FACTS))
    return tuple(islice(found, _MOST_FACTS))


class _Table:
    """A table whose rows are read. The names of `around` are in the order of `text`."""

    def __init__(self, text: str, grid: TextGrid, unit: str, around: Surroundings) -> None:
        self._text = text
        self._columns = [one_line(name) for name in grid.columns]
        self._rows = grid.rows
        self._unit = unit
        self._around = around
        self._labels = Counter(normalise(row.label) for row in grid.rows)
        self._fields = Counter(name for row in grid.rows for name in row.names)
        self._is_measured = any(_has_date(name) for name in self._columns)
        """Whether the columns are times, so that the rows name what is measured."""

    def facts(self) -> Iterator[Triple]:
        if any(name.casefold() in _OF_CONTENTS for name in self._columns):
            return
        for row in self._rows:
            is_label = row.label and self._labels[normalise(row.label)] == 1 and not _NO_TEXT.search(row.label)
            if is_label and self._is_whole(row):
                yield from islice(self._facts_of(row), _MOST_OF_ROW)

    def _is_whole(self, row: GridRow) -> bool:
        """Whether each cell of a row is below the name of its column: it has as many cells, and repeats no header."""
        if row.names:
            return any(name and (self._fields[name] > 1 or name in self._around.fields) for name in row.names)
        written = [one_line(self._text[a:b]) for a, b in row.cells]
        return len(row.cells) == len(self._columns) and not any(
            cell and cell == name for cell, name in zip(written[1:], self._columns[1:], strict=True)
        )

    def _facts_of(self, row: GridRow) -> Iterator[Triple]:
        names = row.names or self._columns
        key = self._find_key(row)
        label = _word_label(row.label)
        if key is None and not self._may_be_measured(row):
            return
        subject = self._around.title if key is None else self._read(key)
        said = {normalise(part) for part in (subject, *row.label.split(HEADING_SEPARATOR))}
        cells = [
            (name, self._read(place))
            for name, place in zip(names, row.cells, strict=True)
            if place not in (key, row.named_by) and _tells(name)
        ]
        for name, value in cells:
            column = ", ".join(name.split(HEADING_SEPARATOR))
            if not _is_value(value) or normalise(value) in said or value.startswith(f"{column}:"):
                continue
            if key is not None:
                relation = column
            elif len(cells) == 1 and column.casefold() in _VALUES:
                relation = label
            else:
                relation = f"{label}, {column}"
            if len(relation) <= _LONGEST_RELATION:
                yield Triple(subject=subject, predicate=self._with_unit(relation, value), object=value)

    def _read(self, place: tuple[int, int]) -> str:
        return one_line(self._text[slice(*place)])

    def _with_unit(self, relation: str, value: str) -> str:
        if not self._unit or not is_amount(value) or _NOT_IN_UNIT.search(relation) or "%" in value:
            return relation
        return f"{relation} ({self._unit})"

    def _may_be_measured(self, row: GridRow) -> bool:
        """Whether a row whose label is no name says something of the document: its label has words, or is a time."""
        if not self._around.title:
            return False
        first = row.label.partition(HEADING_SEPARATOR)[0]
        if row.names and not self._is_measured and not any(map(_has_date, row.names)):
            return _WORD.match(first) is not None and first not in self._around.repeated
        return is_date(first) or (_WORD.search(row.label) is not None and not is_amount(first))

    def _find_key(self, row: GridRow) -> tuple[int, int] | None:
        """Returns the place of the cell that names what a row is about: its label, or the cell of a column of names
        behind a number. None if there is none.

        The columns of such a table are what its rows have, and neither times nor a single column of values.
        """
        names = row.names or self._columns
        if self._is_measured or any(map(_has_date, names)) or (len(names) == 2 and names[-1].casefold() in _VALUES):
            return None
        first = row.cells[0] if row.names else row.named_by
        if first is not None and self._is_key(first):
            return None if row.names and self._read(first) in self._around.repeated else first
        if len(row.cells) > 2 and _NAMING.search(names[1]) and self._is_key(row.cells[1]):
            return row.cells[1]
        return None

    def _is_key(self, place: tuple[int, int]) -> bool:
        label = self._read(place)
        if len(label) > _LONGEST_NAME or len(label.split()) > _MOST_WORDS or _SUM.match(label):
            return False
        if _NO_TEXT.search(label):
            return False
        return _WORD.search(label) is not None and (self._is_name(place) or (self._are_names and label[0].isupper()))

    @cached_property
    def _are_names(self) -> bool:
        """Whether most of the first cells are names, so that `China` is a name among `Chile` and `Chad`."""
        return 2 * sum(self._is_name(row.cells[0]) for row in self._rows if row.cells) > len(self._rows)

    def _is_name(self, place: tuple[int, int]) -> bool:
        """Whether names cover more than half of a cell."""
        start, end = place
        at = max(0, bisect_right(self._around.names, (start, end)) - 1)
        covered = sum(
            max(0, min(stop, end) - max(begin, start))
            for begin, stop in islice(self._around.names, at, at + _MOST_WORDS)
            if begin < end
        )
        return 2 * covered > end - start


def _word_label(label: str) -> str:
    """Returns a label with the group of its row. A sum of more than the group does not have it: of the balance sheet,
    `Total assets` stands among the non-current assets.
    """
    *groups, own = label.rstrip(":").split(HEADING_SEPARATOR)
    return own if _SUM.match(own) and len(own.split()) > 1 else ", ".join([*groups, own])


def _has_date(name: str) -> bool:
    return any(is_date(part) for part in name.split(HEADING_SEPARATOR))


def _tells(name: str) -> bool:
    return bool(name) and not _UNNAMED.fullmatch(name) and (_is_worded(name) or _has_date(name))


def _is_worded(text: str) -> bool:
    return any(map(str.isalpha, text)) or is_date(text)


def _is_value(cell: str) -> bool:
    """Whether a cell is a value that a node of the graph may be: a name, a date, or a number of some length."""
    if not cell or len(cell) > _LONGEST_VALUE or len(cell.split()) > _MOST_WORDS or cell.casefold() in _NO_VALUE:
        return False
    if _NO_TEXT.search(cell):
        return False
    if is_amount(cell):
        return any(map(str.isdigit, cell)) and not _PLAIN_NUMBER.fullmatch(cell)
    return any(letter.isdigit() or (letter.isalpha() and not letter.islower()) for letter in cell)

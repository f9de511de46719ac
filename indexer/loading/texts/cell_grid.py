"""Tables of formats that have cells: rows as lines, in which a merged cell is repeated in each column that it covers.

So each line of a table has its cells in the same columns, and a reader of the lines knows the row and column of each.
Columns that only lay out figures are no columns: a filing has a figure as `$ | 1,234 | ` or `(56 | )` over three
columns, and a label over three more. `_fold_columns` decides which columns belong to one figure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.text.titles import one_line
from indexer.loading.assembly import CELL_SEPARATOR, clean_text, join_cells

_CURRENCY = re.compile(r"(?:US|C|A|NZ|HK)?\$|[€£¥]")
_OPENING = re.compile(r"(?:(?:US|C|A|NZ|HK)?\$|[€£¥])? ?\(?")
_CLOSING = re.compile(r"\)? ?(?:%|[€£¥$])?")
_FIGURE = re.compile(r"[\d—–-]")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell of a table; each is equal to itself alone, so that one cell is known in all places that it covers."""

    text: str


def _fold_columns(rows: Sequence[Mapping[int, Cell]]) -> list[list[str]]:
    """Returns the texts of the rows, without columns that only lay out figures. `rows` have cells by column.

    A column is a part of the column beside it if in each row it is empty, has the same merged cell, or has a sign that
    belongs to the figure there. A column with a name or a text of its own stays.
    """
    width = max((max(row, default=-1) + 1 for row in rows), default=0)
    is_behind = _has_currency_behind(rows)
    sides = [_find_side(rows, column, width, is_behind=is_behind) for column in range(width)]
    groups: list[list[int]] = []
    for column in range(width):
        if groups and (sides[column] < 0 or sides[column - 1] > 0):
            groups[-1].append(column)
        else:
            groups.append([column])
    return [[_write(row, columns) for columns in groups[: _count_groups(row, groups)]] for row in rows]


def _count_groups(row: Mapping[int, Cell], groups: Sequence[Sequence[int]]) -> int:
    """Returns how many groups a row has, up to its last cell."""
    last = max(row, default=-1)
    return sum(columns[0] <= last for columns in groups)


def _find_side(rows: Sequence[Mapping[int, Cell]], column: int, width: int, *, is_behind: bool) -> int:
    """Returns -1 for a column that is a part of the column on its left, 1 on its right, and 0 for no part of another.
    `is_behind`: currencies stand behind figures.
    """
    opens, closes, has_currency = column + 1 < width, column > 0, False
    for row in rows:
        cell = row.get(column)
        if cell is None or not cell.text:
            continue
        left, right = row.get(column - 1), row.get(column + 1)
        opens = opens and (cell is right or _is_sign_of(_OPENING, cell, right))
        closes = closes and (cell is left or _is_sign_of(_CLOSING, cell, left))
        has_currency = has_currency or _CURRENCY.fullmatch(cell.text) is not None
        if not opens and not closes:
            return 0
    if opens and closes and has_currency:
        return -1 if is_behind else 1
    return -1 if closes else int(opens)


def _is_sign_of(pattern: re.Pattern[str], cell: Cell, figure: Cell | None) -> bool:
    return figure is not None and pattern.fullmatch(cell.text) is not None and _FIGURE.search(figure.text) is not None


def _has_currency_behind(rows: Sequence[Mapping[int, Cell]]) -> bool:
    """Returns whether a row ends with a sign of currency."""
    lasts = [next((row[column].text for column in sorted(row, reverse=True) if row[column].text), "") for row in rows]
    return any(_CURRENCY.fullmatch(text) for text in lasts)


def _write(row: Mapping[int, Cell], columns: Sequence[int]) -> str:
    """Returns the text of one row in columns that are one: each cell once, a sign at its figure."""
    cells = dict.fromkeys(row[column] for column in columns if column in row)
    written = ""
    for text in (cell.text for cell in cells if cell.text):
        is_apart = written and not _OPENING.fullmatch(written) and not (_CLOSING.fullmatch(text) and text not in "€£¥$")
        written += f" {text}" if is_apart else text
    return written


_MOST_COLUMNS, _MOST_ROWS = 100, 1000
"""Columns and rows that a cell covers, at most."""
_LAST_COLUMN = 1000
"""The last column that a cell may be moved to: each row has all columns up to its last cell."""
_MOST_REPEATED = 20_000
"""Characters that merged cells may add to a table. Those after them are read as if they were not merged."""


@dataclass
class CellGrid:
    """The rows of a table, cell by cell."""

    _rows: list[dict[int, Cell]] = field(default_factory=list)
    _covered: dict[int, tuple[int, Cell]] = field(default_factory=dict)
    """By column: rows that a cell above still covers, and the cell."""
    _column: int = 0
    _repeated: int = 0

    def begin_row(self) -> None:
        """Begins the next row, with the cells of rows above that reach into it."""
        self._rows.append({column: cell for column, (_, cell) in self._covered.items()})
        self._covered = {column: (left - 1, cell) for column, (left, cell) in self._covered.items() if left > 1}
        self._column = 0

    def skip(self, columns: int) -> None:
        """Leaves columns empty."""
        self._column += min(max(columns, 0), _MOST_COLUMNS)

    def move_to(self, column: int) -> None:
        """Makes the next cell stand in this column, if it is not left of the cells that the row has."""
        self._column = max(self._column, min(column, _LAST_COLUMN))

    def add(self, text: str, columns: int = 1, rows: int = 1) -> None:
        """Adds a cell that covers so many columns and rows, in the next place that no cell above covers."""
        if not self._rows:
            self.begin_row()
        row = self._rows[-1]
        while self._column in row:
            self._column += 1
        written = one_line(clean_text(text)).replace(CELL_SEPARATOR, " / ")
        columns, rows = min(max(columns, 1), _MOST_COLUMNS), min(max(rows, 1), _MOST_ROWS)
        self._repeated += (columns * rows - 1) * (len(written) + 1)
        if self._repeated > _MOST_REPEATED:
            columns = rows = 1
        cell = Cell(written)
        for beside in range(columns):
            row[self._column + beside] = cell
            if rows > 1:
                self._covered[self._column + beside] = (rows - 1, cell)
        self._column += columns

    def lines(self) -> list[str]:
        """Returns the rows that have text. A row of a single cell is the text of this cell."""
        return [line for row in _fold_columns(self._rows) if (line := _write_row(row))]


def _write_row(texts: Sequence[str]) -> str:
    if len(set(texts)) == 1:
        return texts[0]
    return join_cells(texts)

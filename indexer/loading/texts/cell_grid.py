"""Tables of formats that have cells: rows as lines, in which a merged cell is repeated in each column that it covers.

So each line of a table has its cells in the same columns, and a reader of the lines knows the row and column of each.
Columns that only lay out figures are no columns (`figure_columns`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.text.titles import one_line
from indexer.loading.assembly import CELL_SEPARATOR, clean_text, join_cells
from indexer.loading.texts.figure_columns import Cell, fold_columns

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
        return [line for row in fold_columns(self._rows) if (line := _write_row(row))]


def _write_row(texts: Sequence[str]) -> str:
    if len(set(texts)) == 1:
        return texts[0]
    return join_cells(texts)

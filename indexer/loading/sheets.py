"""Sheets of workbooks as text: a row is a line with the names of its columns. The loaders read the cells."""

import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.text.titles import one_line
from indexer.loading.assembly import CELL_SEPARATOR, TextBuilder, join_cells

LONGEST_GAP = 50
"""Empty cells that are written between two cells of a row."""
_LONGEST_NAME = 200
MOST_MERGED = 10_000
"""Merged cells of a sheet that are read. A merged cell of more than 1,000 places is left as it is."""
_LARGEST_MERGED = 1000
_MOST_REPEATED = 100_000
"""Characters that merged cells add to a sheet by being repeated."""
MOST_HEADER_ROWS = 3
_AHEAD = 2
"""Rows after a row that tell whether it names columns."""
_YEAR = re.compile(r"19[0-9]{2}|20[0-9]{2}|2100")
_BLANK = re.compile(
    r"[-–—?.…]{1,5}|#?n[./ ]a\.?|#\S{2,8}[!?]|t\.?b\.?[acd]\.?|k\. ?a\.|n\. ?[cv]\.|none|nil|null"
    r"|on request|entfällt|auf anfrage|keine angabe|sur demande|néant",
    re.IGNORECASE,
)
"""What stands in a cell without a value. It names no column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of a cell as it is written into the text, and whether it is a text in the workbook."""

    text: str
    is_text: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A merged cell that begins in a row: its first and last columns, and its last row."""

    first: int
    last: int
    bottom: int


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet: its cells that have a value by their columns, in order. Rows and columns count from 1."""

    number: int
    cells: Mapping[int, Cell]
    merged: Sequence[Span] = ()


def add_sheet(builder: TextBuilder, rows: Iterable[SheetRow], *, named: bool) -> None:
    """Adds the rows that have a value. With `named`, the first row of several texts has the names of the columns.

    Rows of one cell before it are titles of the table. A row below a name that spans columns has names, too. A merged
    cell has its value in each place that it covers. A sheet may have notes above its table, and several tables: a later
    row of texts names the columns if it stands above values, and either below an empty row, or below texts alone and
    wider than the names so far. A row that repeats the names is no row of values.
    """
    names: dict[int, str] | None = None if named else {}
    wanted = 0  # rows of names that may follow
    last, has_values = 0, False  # the number of the row before; whether the names stand above values already
    for row, *below in _look_ahead(_repeat_merged(rows)):
        values = [(column, cell.text) for column, cell in row.cells]
        is_below_empty, last = row.number > last + 1, row.number
        if names and len(values) > 1 and _repeats(row, names):
            builder.add_line(join_cells(_fill(values)))
            continue
        if len(values) > 1 and (
            names is None or (named and _begins_again(row, below, names, is_below_empty, has_values))
        ):
            levels = _count_names(row, below) if _are_names(row.cells) else 0
            if names is None or levels:
                names = {column: one_line(value) for column, value in values} if _are_names(row.cells) else {}
                goes_on = row.spans or _go_on(names, below)
                wanted = MOST_HEADER_ROWS - 1 if names and goes_on else max(levels - 1, 0)
                if levels > 1 and not row.spans:
                    names = _spread(names, below[0])
                has_values = not names
                builder.add_line(join_cells(_fill(values)))
                continue
        if wanted and names is not None and len(values) > 1 and _are_names(row.cells, may_be_years=True):
            names |= {column: _join_names(names.get(column, ""), one_line(value)) for column, value in values}
            wanted = wanted - 1 if row.spans or _go_on(names, below) else 0
            builder.add_line(join_cells(_fill(values)))
            continue
        wanted = 0
        has_values = has_values or _has_values(row)
        builder.add_line(_name_values(names or {}, values))


def _repeats(row: "_Row", names: Mapping[int, str]) -> bool:
    return {column: one_line(cell.text) for column, cell in row.cells} == names


def _begins_again(
    row: "_Row", below: Sequence["_Row"], names: Mapping[int, str], is_below_empty: bool, has_values: bool
) -> bool:
    """Whether a later row may name columns. A row with the columns of the names so far may be one of their table: it is
    if it has a text in common with the values below, or lacks a value.
    """
    if any(_BLANK.fullmatch(cell.text.strip()) for _, cell in row.cells):
        return False
    columns = {column for column, _ in row.cells}
    if not is_below_empty:
        return not has_values and not columns <= set(names)
    values = [other.cells for other in below if not _are_names(other.cells, may_be_years=True)]
    return columns != set(names) or not any(set(row.cells) & set(cells) for cells in values)


def _count_names(row: "_Row", below: Sequence["_Row"]) -> int:
    """Returns how many rows of names stand directly above a row of values, which has no other columns: 1 or 2 with
    `row`, or 0 for none. The second row of names has a column that the first one lacks, unless a name spans columns.
    """
    columns: set[int] = set()
    for level, (above, values) in enumerate(itertools.pairwise((row, *below)), start=1):
        added = {column for column, _ in above.cells} - columns
        if values.number > above.number + 1 or not (added or row.spans):
            return 0
        if not _are_names(above.cells, may_be_years=level > 1):
            return 0
        columns |= added
        if _has_values(values) and not _are_names(values.cells, may_be_years=True):
            return level if columns >= {column for column, _ in values.cells} else 0
    return 0


def _go_on(names: Mapping[int, str], below: Sequence["_Row"]) -> bool:
    """Returns whether the row below has further lines of the names: texts alone, none of them in the column of labels,
    above a row of values or another such row.
    """
    if len(below) < _AHEAD or not names:
        return False
    first, second = (min(column for column, _ in row.cells) > min(names) and _are_names(row.cells) for row in below)
    return first and (second or _has_values(below[1]))


def _spread(names: Mapping[int, str], below: "_Row") -> dict[int, str]:
    """Returns what the names tell of the columns of the names below. If one of these is repeated, each column has the
    nearest name to its left, too. Otherwise they need no other name, and a name may be a note above the table.
    """
    columns = [column for column, _ in below.cells]
    if len({cell.text for _, cell in below.cells}) == len(columns):
        return {column: name for column, name in names.items() if column not in columns}
    spread = dict(names)
    for column in columns:
        left = max((place for place in names if place <= column), default=0)
        if left:
            spread[column] = names[left]
    return spread


def _has_values(row: "_Row") -> bool:
    return any(not cell.is_text for _, cell in row.cells)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that has a value, with its merged cells repeated; `spans`: whether one of them spans columns."""

    number: int
    cells: Sequence[tuple[int, Cell]]
    spans: bool


def _look_ahead(rows: Iterable[_Row]) -> Iterator[Sequence[_Row]]:
    """Yields each row that has a value together with the two rows after it."""
    waiting: deque[_Row] = deque()
    for row in rows:
        if row.cells:
            waiting.append(row)
        if len(waiting) > _AHEAD:
            yield tuple(waiting)
            waiting.popleft()
    while waiting:
        yield tuple(waiting)
        waiting.popleft()


def _repeat_merged(rows: Iterable[SheetRow]) -> Iterator[_Row]:
    """Yields rows in which a merged cell has its value in each place that it covers.

    A row of a single merged cell stays a row of one cell.
    """
    covered: dict[int, tuple[int, Cell]] = {}
    repeated = merged = 0
    for row in rows:
        covered = {column: (last, cell) for column, (last, cell) in covered.items() if last >= row.number}
        cells = {column: cell for column, (_, cell) in covered.items()} | dict(row.cells)
        is_single, spans = len(cells) == 1, False
        for span in row.merged:
            merged += 1
            size = (span.last - span.first + 1) * (span.bottom - row.number + 1)
            if span.first not in cells or size > _LARGEST_MERGED or merged > MOST_MERGED:
                continue
            if is_single and span.bottom == row.number:
                continue
            cell = cells[span.first]
            repeated += size * len(cell.text)
            if repeated > _MOST_REPEATED:
                continue
            spans = spans or span.last > span.first
            for column in range(span.first, span.last + 1):
                cells[column] = cell
                if span.bottom > row.number:
                    covered[column] = (span.bottom, cell)
        yield _Row(row.number, sorted(cells.items(), key=_column), spans)


def _column(place: tuple[int, Cell]) -> int:
    return place[0]


def _are_names(cells: Sequence[tuple[int, Cell]], *, may_be_years: bool = False) -> bool:
    return all(
        (cell.is_text and len(cell.text) <= _LONGEST_NAME) or (may_be_years and bool(_YEAR.fullmatch(cell.text)))
        for _, cell in cells
    )


def _join_names(above: str, name: str) -> str:
    return name if above in ("", name) else f"{above} {name}"


def _name_values(names: Mapping[int, str], values: Sequence[tuple[int, str]]) -> str:
    """Returns a row as `name: value` for each value whose column has a name; without names, all its cells."""
    if not names:
        return join_cells(_fill(values))
    cells = [(names.get(column, ""), one_line(value)) for column, value in values]
    return CELL_SEPARATOR.join(f"{name}: {value}" if name else value for name, value in cells)


def _fill(values: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yields the values with the empty cells between them, of which `LONGEST_GAP` at most stand together."""
    last = 0
    for column, value in values:
        yield from itertools.repeat("", min(column - last - 1, LONGEST_GAP))
        yield value
        last = column

"""The cell of a table that a citation is about, with the label of its row and the name of its column.

A quoted row has several cells. The citation is about the cell that the answer states. If the answer states several
cells, as when it quotes the whole row, the question tells which (`asked_cell`). `grids` reads the tables.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.grids import GridRow, TextGrid, read_grids, usual_width
from core.passage_context.tables import BAR, count_part, goes_on, is_amount, is_row, is_typed, split_cells

_FIGURE = re.compile(r"\d[\d.,\u202f\u00a0]*\d|\d")
_GROUPING = re.compile(r"[\s,\u202f\u00a0]")
_WORD = re.compile(r"\w+")
_LONGEST = 40_000
"""Characters before a passage that are looked at for the header of its first table."""
_LONGEST_TEXT = 20_000
"""Characters of a passage whose first table is looked at."""
_TITLE = re.compile(
    r"[ \t]{0,3}(?:#{1,6}\s|(?:table|tabelle|tableau|tabla|exhibit|anlage|annexe)\s[\dA-Z])", re.IGNORECASE
)
_CAPTION = 250
"""Characters above a table that have its scale."""
_SCALE = re.compile(
    r"\(([^()\n|\d]{0,60}\b(?:millions?|thousands?|billions?|Millionen|Milliarden|Mio|Mrd|Tsd|TEUR|milliers)\b[^()\n|]{0,100})\)",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"\b(?:cont(?:inued|inuation|['’]?d)?|fortsetzung|forts|suite|continuación)\b", re.IGNORECASE)
"""A title stands above another table, unless it says that the table goes on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCell:
    """A cell, `text[span]`, with the label of its row and the name of its column; each is '' if there is none.

    `row` begins with the label of its group of rows, `column` with the name that spans several columns; parts are
    separated by `HEADING_SEPARATOR`.
    """

    row: str
    column: str
    value: str
    span: Span


def find_cell(
    text: str, span: Span, words: str = "", before: Sequence[str] = (), question: str = ""
) -> TableCell | None:
    """Returns the cell of a table that a quote, `text[span]`, is about; None if it is about no cell, or about several
    among which the question does not choose (`asked_cell`).

    A quote within a cell is about this cell. A quoted row is about the cell whose value the `words` state, which are a
    part of the answer; without a question, the first such cell in the order of the words. `before` are the passages of
    the document before this passage, in order: they may have the header of its table.
    """
    named = _Naming(text, before)
    touched = [
        place
        for grid in named.grids
        for row in grid.rows
        if row.start < span.end and span.start < row.end
        for place in row.cells
        if place[0] < place[1] and (row.names or place != row.named_by)
    ]
    inside = [place for place in touched if place[0] <= span.start and span.end <= place[1]]
    places = inside or _find_stated(text, touched, words)
    if not places and len(touched) == 1:
        places = touched
    if not places:
        return None
    cells = [cell for place in places if (cell := named.name(Span(start=place[0], end=place[1])))]
    if len(cells) < 2 or not question:
        return cells[0] if cells else None
    from core.passage_context.asked_cell import choose_cell  # it needs numpy, which the command line starts without

    return choose_cell(cells, question)


def name_cell(text: str, span: Span, before: Sequence[str] = ()) -> TableCell | None:
    """Returns the cell that stands at `text[span]`, or None if no cell of a table's body stands there."""
    return _Naming(text, before).name(span)


def name_columns(text: str, before: Sequence[str]) -> str:
    """Returns the names of the columns of the table within which a text begins, with `BAR` between them; '' if no
    header is sure. If the column of labels has no name, the first name is the scale of the table, such as
    `In millions`, or empty. `split_cells` reads the names back.

    `before` are the passages of the document before this passage, in order.
    """
    columns = _Naming(text[:_LONGEST_TEXT], before).name_first_columns()
    names = [name.replace(HEADING_SEPARATOR, " ").replace(BAR, " ") for name in columns]
    line = BAR.join(names).strip()
    return line if len(names) > 1 and is_row(line) and split_cells(line) == names else ""


class _Naming:
    """The tables of a passage, which name its cells. A table without a header may begin in an earlier passage."""

    def __init__(self, text: str, before: Sequence[str]) -> None:
        self._above = "\n".join(before)[-_LONGEST:]
        self._text = text
        self.grids = read_grids(text, is_cut=goes_on(self._above, text))

    @cached_property
    def _own(self) -> "_Cells":
        return _Cells(self._text, self.grids)

    def name(self, span: Span) -> TableCell | None:
        found = self._own.name(span)
        if found is None or self._own.has_header(span) or not self._above:
            return found
        shift = len(self._above) + 1
        moved = self._whole.name(Span(start=span.start + shift, end=span.end + shift))
        if moved is None:
            return found
        return replace(moved, span=Span(start=moved.span.start - shift, end=moved.span.end - shift))

    def name_first_columns(self) -> tuple[str, ...]:
        """Returns the names of the columns of the first table, which begins in an earlier passage; () if none does.

        Rows below a title, of another number of cells, or of another notation than the rows above are another table.
        """
        first = self.grids[0].rows[0] if self.grids and self.grids[0].rows else None
        if first is None or self.grids[0].columns:
            return ()
        start = first.cells[0][0] + len(self._above) + 1
        table = next((grid for grid in self._grids_of_whole if grid.start <= start < grid.end), None)
        if table is None or not any(table.columns):
            return ()
        rows = [row for row in (*table.header, *table.rows) if row.start < start] or self._list_rows_above(start)
        width = usual_width(self.grids[0].rows)
        text = f"{self._above}\n{self._text}"
        # Rows without an amount may be lines of a broken header.
        body = [row for row in table.rows if row.start < start and any(is_amount(text[a:b]) for a, b in row.cells)]
        if not rows or (body and usual_width(body) != width) or any(table.columns[width:]):
            return ()
        between = text[rows[-1].end : start].split("\n")
        if any(_TITLE.match(line) and not _CONTINUED.search(line) for line in between):
            return ()
        if is_typed(text[rows[-1].start : rows[-1].end]) != is_typed(self._text[first.start : first.end]):
            return ()
        corner = table.columns[0] or _find_scale(text, table)
        return (corner, *table.columns[1:width])

    def _list_rows_above(self, start: int) -> list[GridRow]:
        return [row for grid in self._grids_of_whole for row in (*grid.header, *grid.rows) if row.start < start]

    @cached_property
    def _whole(self) -> "_Cells":
        return _Cells(f"{self._above}\n{self._text}", self._grids_of_whole)

    @cached_property
    def _grids_of_whole(self) -> list[TextGrid]:
        return read_grids(f"{self._above}\n{self._text}")


def _find_scale(text: str, table: TextGrid) -> str:
    """Returns what a table, or the caption above it, says of all its numbers, such as `In millions`; else ''."""
    end = table.rows[0].start if table.rows else table.end
    found = _SCALE.findall(text, max(0, table.start - _CAPTION), end)
    return str(found[-1]) if found else ""


class _Cells:
    """The cells of a text's tables by their places, so that finding a cell does not read thousands."""

    def __init__(self, text: str, grids: Sequence[TextGrid]) -> None:
        self.text = text
        self._places: list[tuple[int, int, int, GridRow, TextGrid]] = sorted(
            (
                (start, end, number, row, grid)
                for grid in grids
                for row in grid.rows
                for number, (start, end) in enumerate(row.cells)
            ),
            key=lambda place: place[0],
        )
        self._starts = [place[0] for place in self._places]

    def has_header(self, span: Span) -> bool:
        """Returns whether the table of the cell in which a span stands has rows that name its columns."""
        place = self._find(span)
        return place is not None and bool(place[4].columns)

    def name(self, span: Span) -> TableCell | None:
        place = self._find(span)
        if place is None:
            return None
        start, end, number, row, grid = place
        names = row.names or grid.columns
        column = names[number] if number < len(names) else ""
        # The label of the second of two parts side by side is the first cell of that part.
        first = number - number % count_part(grid.columns) if grid.columns and not row.names else 0
        label = self.text[slice(*row.cells[first])] if first else row.label
        return TableCell(row=label, column=column, value=self.text[start:end], span=Span(start=start, end=end))

    def _find(self, span: Span) -> tuple[int, int, int, GridRow, TextGrid] | None:
        at = bisect_right(self._starts, span.start) - 1
        if at < 0:
            return None
        start, end = self._places[at][:2]
        return self._places[at] if span.start < max(end, start + 1) and span.end <= end else None


def _find_stated(text: str, places: Sequence[tuple[int, int]], words: str) -> list[tuple[int, int]]:
    """Returns the places of cells that the words state: amounts first, each kind in the order of the words."""
    figures = {_GROUPING.sub("", match[0]): match.start() for match in reversed(list(_FIGURE.finditer(words)))}
    folded = f" {' '.join(_WORD.findall(words.casefold()))} "
    found: list[tuple[int, int, tuple[int, int]]] = []
    for place in places:
        value = text[slice(*place)]
        if is_amount(value) and (own := _FIGURE.search(value)):
            if (at := figures.get(_GROUPING.sub("", own[0]))) is not None:
                found.append((0, at, place))
        elif wanted := " ".join(_WORD.findall(value.casefold())):
            at = folded.find(f" {wanted} ")
            if at >= 0:
                found.append((1, at, place))
    return [place for _, _, place in sorted(found)]

"""Ruled tables of a PDF: the lines that a page draws, and the cells between them.

Lines tell which words are one cell if a cell has several lines, and where a table has no figures to align. A table with
a line around each cell is read here, also if cells are merged. Of other tables, `tables` aligns the figures.
"""

import ctypes
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from indexer.loading.pdf.runs import HYPHEN, Box, Run
from indexer.loading.pdf.table_rows import group_rows, is_figure, middle_of, read_row

if TYPE_CHECKING:
    from pypdfium2 import PdfObject, PdfPage


_MOST_OBJECTS, _MOST_SEGMENTS, _MOST_RULINGS = 20_000, 20_000, 1_000
"""Objects of a page, segments of paths, and lines; a page with more of them is a drawing, whose lines are not read."""
_NEAR = 2.0
"""Points between two lines that are one line, and between the end of a line and the line that it meets."""
_THICKEST, _SHORTEST = 3.0, 4.0
"""Points of a line."""
_MOST_CELLS = 10_000
_LONGEST_CELL = 1_500
"""Characters of a cell; a longer text is in a box of a page's layout."""
_LONGEST_REPEATED = 200
"""Characters of a merged cell of words that is repeated in each row and column that it covers."""
_MOST_REPEATED = 20_000
"""Characters that merged cells may add to a table; with more, none is repeated."""
_FEWEST_COLUMNS = 2
_FEWEST_ROWS = 2
"""Rows of a table whose first row may be a header of names that their author broke over lines."""
_EDGE = 0.25
"""Heights of a character, of its box, that a line across may reach into."""
_LEAST_FILLED = 0.25
"""Share of the cells with text; a drawing has less."""
_UNRULED_SHARE = 0.15
"""Share of rows with figures side by side in one cell; with more, lines do not part the columns."""


@dataclass(frozen=True, kw_only=True)
class RuledTable:
    """`rows` have the cells of each row, and the runs in them, which are `runs` together."""

    rows: Sequence[tuple[Sequence[str], Sequence[Run]]]
    runs: Sequence[Run]


def read_rulings(page: "PdfPage") -> list[Box]:
    """Returns the lines across and down that meet others as those of a table do, each as a box without height or width.

    Lines are the segments of paths that a page draws: lines, and the edges of boxes. Parts of one line are joined.
    """
    from pypdfium2 import raw

    if raw.FPDFPage_CountObjects(page.raw) > _MOST_OBJECTS:
        return []
    paths = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1)
    segments = list(islice((one for path in paths for one in _read_segments(path)), _MOST_SEGMENTS + 1))
    if len(segments) > _MOST_SEGMENTS:
        return []
    across = [(bottom, left, right) for left, bottom, right, top in segments if right - left >= top - bottom]
    down = [(left, bottom, top) for left, bottom, right, top in segments if right - left < top - bottom]
    found = [(start, at, end, at) for at, start, end in _join_lines(across)]
    found += [(at, start, at, end) for at, start, end in _join_lines(down)]
    frames = _find_meeting(found) if len(found) <= _MOST_RULINGS else ()
    return [line for lines in frames if _Frame(lines).is_table for line in lines]


def _read_segments(path: "PdfObject") -> list[Box]:
    """Returns the segments of a path that run across or down. A filled box is a line if it is thin; others are the
    background of cells, which many programs draw around parts of a cell.
    """
    from pypdfium2 import raw

    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path.raw, fill, is_stroked)
    count = raw.FPDFPath_CountSegments(path.raw)
    if not (fill.value or is_stroked.value) or count > _MOST_SEGMENTS:
        return []
    matrix = path.get_matrix()
    x, y = ctypes.c_float(), ctypes.c_float()
    first = last = (0.0, 0.0)
    found: list[Box] = []
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(path.raw, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = point
        ends = [(last, point)] if kind == raw.FPDF_SEGMENT_LINETO else []
        if raw.FPDFPathSegment_GetClose(segment):
            ends.append((point, first))
        for (x1, y1), (x2, y2) in ends:
            if (abs(x1 - x2) <= 1) != (abs(y1 - y2) <= 1):
                found.append((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
        last = point
    return found if is_stroked.value or _is_thin(found) else []


def _is_thin(segments: Sequence[Box]) -> bool:
    width = max((box[2] for box in segments), default=0.0) - min((box[0] for box in segments), default=0.0)
    height = max((box[3] for box in segments), default=0.0) - min((box[1] for box in segments), default=0.0)
    return min(width, height) <= _THICKEST


_Line = tuple[float, float, float]
"""The place of a line on the other axis, its start and its end."""


def _join_lines(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yields lines of which the parts are joined, and those beside one another, which are the edges of a thick line."""
    groups: list[list[_Line]] = []
    for line in sorted(lines):
        if groups and line[0] - groups[-1][0][0] <= _NEAR:
            groups[-1].append(line)
        else:
            groups.append([line])
    for group in groups:
        at = sum(line[0] for line in group) / len(group)
        parts: list[tuple[float, float]] = []
        for _, start, end in sorted(group, key=lambda line: line[1]):
            if parts and start - parts[-1][1] <= _NEAR:
                parts[-1] = (parts[-1][0], max(parts[-1][1], end))
            else:
                parts.append((start, end))
        yield from ((at, start, end) for start, end in parts if end - start >= _SHORTEST)


def find_ruled_tables(runs: Sequence[Run], rulings: Sequence[Box]) -> Iterator[RuledTable]:
    """Yields the tables of which lines divide all cells, with the runs that stand in them. A small table is first."""
    frames = [frame for frame in map(_Frame, _find_meeting(rulings)) if frame.is_table]
    for frame in sorted(frames, key=lambda frame: frame.area):
        own = [run for run in runs if frame.has(run)]
        others = [run for run in runs if not frame.has(run)]
        rows = frame.read(own) if own else []
        if len(rows) > 1 or (rows and not any(map(frame.is_beside, others))):
            yield RuledTable(rows=rows, runs=own)
            runs = others


def _find_meeting(rulings: Sequence[Box]) -> Iterator[list[Box]]:
    """Yields the groups of lines that meet."""
    left = list(rulings)
    while left:
        group = [left.pop()]
        for line in group:
            meeting = [_meet(line, other) for other in left]
            group += [other for other, meets in zip(left, meeting, strict=True) if meets]
            left = [other for other, meets in zip(left, meeting, strict=True) if not meets]
        yield group


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] - _NEAR <= other[2]
        and other[0] - _NEAR <= one[2]
        and one[1] - _NEAR <= other[3]
        and other[1] - _NEAR <= one[3]
    )


_Place = tuple[int, int]
"""Row and column."""
_Cell = tuple[float, list[list[Run]]]
"""The width of a cell, and its lines."""


class _Frame:
    """Lines that meet, as rows and columns: the outer lines may be missing."""

    def __init__(self, lines: Sequence[Box]) -> None:
        across = [line for line in lines if line[1] == line[3]]
        down = [line for line in lines if line[1] != line[3]]
        self._xs = _cluster([line[0] for line in down] + [x for line in across for x in (line[0], line[2])])
        self._ys = _cluster([line[1] for line in across] + [y for line in down for y in (line[1], line[3])])[::-1]
        self._across, self._down = across, down
        self.is_table = (
            bool(across and down) and len(self._xs) > _FEWEST_COLUMNS and len(self._xs) * len(self._ys) <= _MOST_CELLS
        )

    @property
    def area(self) -> float:
        return (self._xs[-1] - self._xs[0]) * (self._ys[0] - self._ys[-1])

    def has(self, run: Run) -> bool:
        x, y = _begin_of(run), middle_of(run)
        return self._xs[0] < x < self._xs[-1] and self._ys[-1] < y < self._ys[0]

    def is_beside(self, run: Run) -> bool:
        """Whether a run is at the height of the table: a single row with text beside it is a part of another row."""
        return self._ys[-1] < middle_of(run) < self._ys[0]

    def read(self, runs: Sequence[Run]) -> list[tuple[list[str], list[Run]]]:
        """Returns the rows from the top; [] if the lines do not divide all cells, or too few of them have text."""
        if any(map(self._is_crossed, runs)):
            return []
        begins = self._find_merged()
        cells: dict[_Place, list[Run]] = {}
        for run in runs:
            row = len(self._ys) - 1 - bisect_right(self._ys[::-1], middle_of(run))
            column = bisect_right(self._xs, _begin_of(run)) - 1
            cells.setdefault(begins[row, column], []).append(run)
        lines = {place: group_rows(found) for place, found in cells.items()}
        texts = {place: _join_text(found) for place, found in lines.items()}
        is_filled = len(texts) >= _LEAST_FILLED * len(set(begins.values()))
        if not is_filled or not self._is_divided(lines, begins) or max(map(len, texts.values())) > _LONGEST_CELL:
            return []
        used = sorted({column for _, column in texts})
        longest = _longest_repeated(texts, begins.values())
        rows: list[tuple[list[str], list[Run]]] = []
        full: list[int] = []
        for row in range(len(self._ys) - 1):
            own = [run for place, found in cells.items() if place[0] == row for run in found]
            if own:
                places = [begins[row, column] for column in used]
                rows.append((_write(row, places, texts, longest), own))
                full.append(len(texts.keys() & places))
        return rows if sum(count > 1 for count in full) > 1 or full == [len(used)] else []

    def _is_crossed(self, run: Run) -> bool:
        """Whether a line runs across words, as where boxes overlap: then the lines are no edges of cells."""
        low, high = run.bottom + _EDGE * run.size, run.top - _EDGE * run.size
        return any(low < y < high and left < _begin_of(run) < right for left, y, right, _ in self._across)

    def _find_merged(self) -> dict[_Place, _Place]:
        """Returns where the cell at each place begins: itself, or the cell before it or above it without a line."""
        begins: dict[_Place, _Place] = {}
        for row, (top, bottom) in enumerate(pairwise(self._ys)):
            middle = (top + bottom) / 2
            walls = [line[0] for line in self._down if line[1] < middle < line[3]]
            for column, (left, right) in enumerate(pairwise(self._xs)):
                centre = (left + right) / 2
                begins[row, column] = (row, column)
                if column and not any(abs(x - left) <= _NEAR for x in walls):
                    begins[row, column] = begins[row, column - 1]
                elif row and not any(abs(y - top) <= _NEAR and a < centre < b for a, y, b, _ in self._across):
                    begins[row, column] = begins[row - 1, column]
        return begins

    def _is_divided(self, lines: dict[_Place, list[list[Run]]], begins: dict[_Place, _Place]) -> bool:
        """Whether no row has several rows of a table, and no cell several columns."""
        by_row: dict[int, list[_Cell]] = {}
        last_rows = {begin: row for (row, _), begin in begins.items()}
        is_only = len({place[0] for place in lines}) == 1
        wide = set()
        for place, found in lines.items():
            width = sum(self._xs[n + 1] - self._xs[n] for n in range(len(self._xs) - 1) if begins[place[0], n] == place)
            if last_rows[place] == place[0]:
                by_row.setdefault(place[0], []).append((width, found))
            pieces = [read_row(row).pieces for row in found]
            if any(sum(is_only or is_figure(piece.text) for piece in row) > 1 for row in pieces):
                wide.add(place[0])
        looked_at = [cells for row, cells in by_row.items() if row or len(by_row) <= _FEWEST_ROWS]
        has_stacks = any(_are_stacked(cells, is_only=is_only) for cells in looked_at)
        return not has_stacks and len(wide) <= _UNRULED_SHARE * len(by_row)


def _longest_repeated(texts: Mapping[_Place, str], begins: Iterable[_Place]) -> int:
    """Returns the characters of a cell that is written wherever it reaches: 0 if that adds too much to the table."""
    counts = Counter(begins)
    words = ((place, text) for place, text in texts.items() if len(text) <= _LONGEST_REPEATED and not is_figure(text))
    added = sum((counts[place] - 1) * len(text) for place, text in words)
    return _LONGEST_REPEATED if added <= _MOST_REPEATED else 0


def _write(row: int, places: Sequence[_Place], texts: Mapping[_Place, str], longest: int) -> list[str]:
    """Returns the cells of a row, which begin at `places`. A text that is not too long is in each column and row that
    its cell covers, but a text that covers all columns is written once, and so is a figure: sums would count it twice.
    """
    once = len(set(places)) == 1
    written = []
    for number, place in enumerate(places):
        is_first = place[0] == row and place not in places[:number]
        text = texts.get(place, "")
        is_repeated = len(text) <= longest and not once and not is_figure(text)
        written.append(text if is_first or is_repeated else "")
    return written


def _begin_of(run: Run) -> float:
    """Returns a place in the first character of a run, which is in its cell even if its end is not."""
    return min(run.left + run.size / 2, (run.left + run.right) / 2)


def _cluster(places: Iterable[float]) -> list[float]:
    """Returns places that are apart, in order."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR:
            found.append(place)
    return found


def _are_stacked(cells: Sequence[_Cell], *, is_only: bool) -> bool:
    """Whether the cells of a row have several rows of a table: as many lines each, which are figures, or of which half
    end although the next word would have had room. The cells of the only row may have different numbers of lines, and
    those of other rows if all lines end so and are beside one another, as where a cell of a row is empty.
    """
    counts = {len(lines) for _, lines in cells}
    if len(cells) <= 1 or counts == {1}:
        return False
    is_even = is_only or len(counts) == 1
    if is_even and any(len(lines) > 1 and all(is_figure(_join_text([line])) for line in lines) for _, lines in cells):
        return True
    has_room = [_has_room(upper, lower, width) for width, lines in cells for upper, lower in pairwise(lines)]
    return 2 * sum(has_room) >= len(has_room) if is_even else all(has_room) and _are_beside(cells)


def _are_beside(cells: Sequence[_Cell]) -> bool:
    """Whether cells have several lines each, beside those of the cell with most lines. A cell of one line is no sign of
    several rows: other cells of its row may be lists or addresses.
    """
    counts = [len(lines) for _, lines in cells]
    rows = group_rows(run for _, lines in cells for line in lines for run in line)
    return min(counts) > 1 and len(rows) == max(counts)


def _has_room(line: Sequence[Run], following: Sequence[Run], width: float) -> bool:
    """Whether the first word of the next line would fit into the line of a cell."""
    used = max(run.right for run in line) - min(run.left for run in line)
    first = min(following, key=lambda run: run.left)
    word = (first.right - first.left) * len(first.text.split(" ", 1)[0]) / len(first.text)
    return used + word + 1.5 * first.size < width


def _join_text(lines: Sequence[Sequence[Run]]) -> str:
    """Returns the text of a cell. Words that a hyphen cuts at the end of a line are joined."""
    parts = [" ".join(run.text for run in sorted(line, key=lambda run: run.left)) for line in lines]
    return " ".join(parts).replace(f"{HYPHEN} ", "")

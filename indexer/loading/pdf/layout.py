"""The order of reading: runs of a page as lines, one column after the other, and rows of tables as lines of cells."""

import math
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from indexer.loading.assembly import CELL_SEPARATOR, join_cells
from indexer.loading.pdf.ruled import RuledTable, find_ruled_tables
from indexer.loading.pdf.runs import HYPHEN, TURN, Box, Run
from indexer.loading.pdf.table_rows import group_rows, middle_of
from indexer.loading.pdf.tables import align_rows

_STRIPES = 200
_MIN_LINES = 4
_MIN_CHARACTERS = 20
_MOST_SPACES = 0.75
"""The share of the runs over a narrow gutter that have a wide space there. Spaces of justified lines do not agree."""
_MOST_IN_LINES = 0.6
"""The share of a column's characters that its lines have, if it has a table, too."""
_WIDEST_GUTTER = 200.0
"""Points of a narrow gutter; a wider gutter is found without the spaces of runs."""
_PARAGRAPH_GAP = 0.6
_MAX_COLUMNS = 3  # splits of a region: up to 8 columns


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text. `size` is the height of its characters; `is_first` tells that a paragraph begins with it.

    `is_within` tells that it is a row of a ruled table, but not the first row.
    """

    text: str
    top: float
    bottom: float
    size: float
    is_first: bool = False
    is_bold: bool = False
    is_italic: bool = False
    is_within: bool = False


@dataclass(frozen=True, slots=True)
class _TableRun(Run):
    """A ruled table among the runs of a page, with its rows as lines."""

    rows: tuple[Line, ...] = ()


def read_lines(runs: Sequence[Run], rulings: Sequence[Box] = (), *, columns: bool = True) -> list[Line]:
    """Returns the lines of a page, on which lines are drawn at `rulings`. Words that a hyphen cuts at the end of a line
    are joined.

    Without `columns`, lines are read across the whole page. Lines that are turned otherwise than most of the text, such
    as a note at the margin, come after it.
    """
    turns = Counter[int]()
    for run in runs:
        turns[run.turn] += len(run.text)
    return [
        line
        for turn, _ in turns.most_common()
        for line in _read_turned(
            [run for run in runs if run.turn == turn], [TURN[turn](*ruling) for ruling in rulings], columns=columns
        )
    ]


def _read_turned(runs: Sequence[Run], rulings: Sequence[Box], *, columns: bool) -> list[Line]:
    """Returns the lines of runs of one turn."""
    tables: list[_TableRun] = []
    inside: set[int] = set()
    for table in find_ruled_tables(runs, rulings):
        inside.update(map(id, table.runs))
        tables.append(_make_table(table))
    runs = [*(run for run in runs if id(run) not in inside), *tables]
    lines = _order(_split_at_gutters(runs) if columns else runs, _MAX_COLUMNS if columns else 0)
    gaps = [one.bottom - two.top for one, two in pairwise(lines) if one.top > two.top]
    usual = max(0.0, median(gaps)) if gaps else 0.0
    marked: list[Line] = []
    for before, line in zip([None, *lines], lines, strict=False):
        gap = before.bottom - line.top if before and before.top > line.top else 0.0
        is_first = before is None or (not line.is_within and gap > max(_PARAGRAPH_GAP * line.size, 1.5 * usual))
        if marked and marked[-1].text.endswith(HYPHEN):
            last = marked.pop()
            joined = last.text.removesuffix(HYPHEN) + line.text
            marked.append(replace(last, text=joined, bottom=line.bottom))
        else:
            marked.append(replace(line, is_first=is_first))
    return [replace(line, text=line.text.replace(HYPHEN, "-")) for line in marked]


def _split_at_gutters(runs: Sequence[Run]) -> Sequence[Run]:
    """Splits runs at narrow gutters: places where many runs have a wide space at the same x, and few have text."""
    if sum(map(bool, (run.gaps for run in runs))) < 2 * _MIN_LINES:
        return runs
    shared = Counter(x for run in runs for x in {x for _, left, right in run.gaps for x in _points(left, right)})
    lefts, rights = sorted(run.left for run in runs), sorted(run.right for run in runs)
    gutters = [
        x
        for x, count in sorted(shared.items())
        if count >= 2 * _MIN_LINES and count >= _MOST_SPACES * (bisect_left(lefts, x) - bisect_right(rights, x))
    ]
    return [part for run in runs for part in _split_run(run, gutters)] if gutters else runs


def _points(left: float, right: float) -> range:
    return range(math.ceil(left), math.floor(right) + 1) if 0 <= right - left <= _WIDEST_GUTTER else range(0)


def _split_run(run: Run, gutters: Sequence[int]) -> list[Run]:
    parts: list[Run] = []
    begin, start = 0, run.left
    for at, left, right in run.gaps:
        if bisect_left(gutters, left) < bisect_right(gutters, right):
            parts.append(replace(run, text=run.text[begin:at].rstrip(), left=start, right=left, gaps=()))
            begin, start = at + 1, right
    return [*parts, replace(run, text=run.text[begin:], left=start, gaps=())] if parts else [run]


def _order(runs: Sequence[Run], splits: int) -> list[Line]:
    """Returns the lines of a region. At a gutter, the left column comes first, down to the next run that crosses it."""
    gutter = _find_gutter(runs, splits)
    if gutter is None:
        return _make_lines(runs)
    lines: list[Line] = []
    crossing = sorted((run for run in runs if run.left < gutter < run.right), key=lambda run: -run.top)
    sides = sorted((run for run in runs if not run.left < gutter < run.right), key=lambda run: -middle_of(run))
    start = 0
    for run in [*group_rows(crossing), None]:
        top = max(map(middle_of, run)) if run else -math.inf
        end = bisect_left(sides, -top, start, key=lambda one: -middle_of(one))
        above = sides[start:end]
        start = end
        for column in ([o for o in above if o.right <= gutter], [o for o in above if o.left >= gutter]):
            lines += _order(column, splits - 1)
        lines += _make_lines(run or ())
    return lines


def _find_gutter(runs: Sequence[Run], splits: int) -> float | None:
    """Returns the x of a vertical strip that few runs cross, between columns of text; None if there is none.

    Each side is a column, or columns with `splits - 1` splits. Cells of tables are short: they make no column of text.
    """
    if not splits or len(runs) < 2 * _MIN_LINES:
        return None
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    width = (right - left) / _STRIPES
    if not 0 < width < math.inf:
        return None
    crossed = [0] * _STRIPES
    for run in runs:
        for stripe in range(int((run.left - left) / width), min(int((run.right - left) / width) + 1, _STRIPES)):
            crossed[stripe] += 1
    inner = range(_STRIPES // 5, _STRIPES - _STRIPES // 5)
    least = min(crossed[stripe] for stripe in inner)
    best = [stripe for stripe in inner if crossed[stripe] == least]
    strip = max(_successions(best), key=len)
    gutter = left + (strip[len(strip) // 2] + 0.5) * width
    if least > 0.25 * len(runs):
        return None
    sides = [run for run in runs if run.right <= gutter], [run for run in runs if run.left >= gutter]
    ends = (left, gutter), (gutter, right)
    are_columns = all(
        _is_column(side, *end) or _find_gutter(side, splits - 1) is not None
        for side, end in zip(sides, ends, strict=True)
    )
    return gutter if are_columns else None


def _successions(numbers: Sequence[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _is_column(runs: Sequence[Run], left: float, right: float) -> bool:
    """Whether the runs are lines of text: several, and most of them long and as wide as half of the column.

    A column that has a table, whose cells are short, is known by its other lines, if they have most of its characters.
    """
    rows = group_rows(runs)
    if len(rows) < _MIN_LINES:
        return False

    def is_line(run: Run) -> bool:
        return run.right - run.left >= 0.5 * (right - left) and len(run.text) >= _MIN_CHARACTERS

    wide = median(run.right - run.left for run in runs) >= 0.5 * (right - left)
    if wide and median(len(run.text) for run in runs) >= _MIN_CHARACTERS:
        return True
    lines = [row[0] for row in rows if len(row) == 1 and is_line(row[0])]
    most = _MOST_IN_LINES * sum(len(run.text) for run in runs)
    return len(lines) >= _MIN_LINES and sum(len(run.text) for run in lines) >= most


def _make_table(table: RuledTable) -> _TableRun:
    rows = tuple(
        replace(_make_line(runs, ()), text=join_cells(cells), is_within=bool(number))
        for number, (cells, runs) in enumerate(table.rows)
    )
    return _TableRun(
        text=" ".join(row.text for row in rows),
        left=min(run.left for run in table.runs),
        right=max(run.right for run in table.runs),
        bottom=min(row.bottom for row in rows),
        top=max(row.top for row in rows),
        size=rows[0].size,
        rows=rows,
    )


def _make_lines(runs: Sequence[Run]) -> list[Line]:
    lines: list[Line] = []
    text: list[list[Run]] = []
    for row in group_rows(runs):
        tables = [run for run in row if isinstance(run, _TableRun)]
        beside = [run for run in row if not isinstance(run, _TableRun)]
        text += [beside] if beside else []
        if tables:
            lines += [_make_line(*aligned) for aligned in align_rows(text)]
            lines += [line for table in tables for line in table.rows]
            text = []
    return lines + [_make_line(*aligned) for aligned in align_rows(text)]


def _make_line(row: Sequence[Run], cells: Sequence[str]) -> Line:
    """Joins the runs of a row, from the left, or from the right if most of its letters are written so.

    A row of a table is its `cells`.
    """
    text = "".join(run.text for run in row)
    is_rtl = 2 * sum(unicodedata.bidirectional(c) in ("R", "AL") for c in text) > sum(c.isalpha() for c in text)
    ordered = sorted(row, key=lambda run: -run.right if is_rtl else run.left)
    parts = [ordered[0].text]
    for one, following in pairwise(ordered):
        gap = one.left - following.right if is_rtl else following.left - one.right
        parts += [CELL_SEPARATOR if gap > one.size else " ", following.text]
    if any(cells) and not is_rtl:
        parts = [CELL_SEPARATOR.join(cells[: max(n for n, cell in enumerate(cells, start=1) if cell)])]
    size = max(row, key=lambda run: len(run.text)).size
    return Line(
        text="".join(parts),
        top=max(run.top for run in row),
        bottom=min(run.bottom for run in row),
        size=size,
        is_bold=all(run.is_bold for run in row),
        is_italic=all(run.is_italic for run in row),
    )

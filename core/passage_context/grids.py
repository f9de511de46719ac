"""Tables in text as rows of cells: where each cell stands, the label of its row, and the name of its column.

The tables are the tables of `core.passage_context.tables`, and rows whose cells have their names (`Rate: 345; Name:
Bo`). All is read from the text, so nothing is stored beside a passage. Open this to change how a table is read; `cells`
finds the cell that a citation is about.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.documents import HEADING_SEPARATOR
from core.passage_context.tables import (
    are_fields,
    are_labels,
    find_tables,
    has_page_number,
    is_amount,
    is_date,
    is_drawn,
    is_row,
    is_rule,
    is_typed,
    join_lines,
)
from core.text.shortening import shorten
from core.text.titles import one_line

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_BAR = re.compile(r"(?<!\S)\|(?!\S)")
_TYPED_BAR = re.compile(r"(?<!\\)\|")
_FIELD = re.compile(r"([^:;|\n]{1,200}): ")
_COLON = re.compile(r": ")
_SEMICOLON = re.compile(r"; ")
_CURRENCY_AFTER = re.compile(r"\s[$€£¥]\Z")

_SUM = re.compile(
    r"(?:sub-?|grand |net |gross )?total|sum\b|balance|amount due|vat\b|net\b|gross\b|gesamt|(?:zwischen)?summe|netto"
    r"|brutto|mwst|ust\b|rechnungsbetrag|sous-total|montant|somme|solde|tva\b|net à payer",
    re.IGNORECASE,
)
"""How the label of a sum begins, which may stand in a column of words."""
_LONGEST_NAME = 60
_LONGEST_LABEL = 200
"""Characters of the name of a row or column; longer names are cut."""
_MOST_HEADER_ROWS = 6
_DAY = re.compile(r"[^\W\d_]{3,9}\.? \d{1,2},")
_YEAR = re.compile(r"(?:19|20)\d\d(?: ?\([^()]{1,30}\))?")
_LOOKED_AT = 5
"""The first rows of a table, which show whether it is a Markdown table."""
_NEAR = 300
"""Characters between two parts of a table, such as the footer of a page and the header of the next page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GridRow:
    """A row: the places of its cells, of which the column is known by their index, and its label."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]
    label: str
    names: tuple[str, ...] = ()
    """The names of the cells, if the row itself says them (`Rate: 345`)."""
    named_by: tuple[int, int] | None = None
    """The place of the cell that is the row's label, if there is such a cell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextGrid:
    """A table: `columns` are the names of its columns, '' where none is known, and `rows` those below the header."""

    start: int
    end: int
    columns: tuple[str, ...]
    header: tuple[GridRow, ...]
    rows: tuple[GridRow, ...]


def read_grids(
    text: str, *, is_cut: bool = False, names: Sequence[str] = (), fields: Collection[str] = ()
) -> list[TextGrid]:
    """Returns the tables of a text, in order. A table without a header takes the names of a near table above with as
    many columns.

    `is_cut`: the text begins within a table (`tables.goes_on`), so the first rows of this table are no header. `names`
    are the names of its columns, as an earlier passage has them; they are not used if their number is another. `fields`
    are the names of cells in rows of other passages (`count_fields`): a passage may have a name once.
    """
    grids: list[TextGrid] = []
    for table in find_tables(text):
        body = text[table.start : table.body]
        known = sum(is_row(line) and not is_rule(_texts(line, _typed_ranges(line))) for line in body.split("\n"))
        may_have_header = bool(grids) or not is_cut
        grid = _make_grid(text, table.start, table.end, known, may_have_header=may_have_header)
        above = grids[-1] if grids else None
        if above is not None and not grid.header and _goes_on(grid, above):
            grid = replace(grid, columns=above.columns)
        elif above is None and names and len(names) == usual_width(grid.rows) and are_labels(text[: grid.start]):
            grid = replace(grid, columns=tuple(names))
        grids.append(grid)
    records = _read_records(text, grids, fields)
    others = [grid for grid in grids if not _overlaps(records, grid.start, grid.end)]
    return sorted([*others, *records], key=lambda grid: grid.start)


def _overlaps(grids: Sequence[TextGrid], start: int, end: int) -> bool:
    """Returns whether one of several tables, which are in order, is in a part of the text."""
    before = bisect_left(grids, end, key=lambda grid: grid.start)
    return before > 0 and grids[before - 1].end > start


def _goes_on(grid: TextGrid, above: TextGrid) -> bool:
    is_near = grid.start - above.end <= _NEAR
    return is_near and bool(above.columns) and usual_width(grid.rows) == usual_width(above.rows)


def _make_grid(text: str, start: int, end: int, known: int, *, may_have_header: bool) -> TextGrid:
    """Returns the table at `text[start:end]`; its header has `known` rows, or more if it is not drawn."""
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    rows = [line for line in lines if is_row(text[slice(*line)])]
    typed = _is_markdown(text, rows)
    cells = {line: _typed_ranges(text, *line) if typed else _split(text, *line) for line in rows}
    rules = {n for n, line in enumerate(rows) if is_rule(_texts(text, cells[line]))}
    drawn = bool(rules) and is_drawn(text[slice(*rows[min(rules)])])
    rows = [line for n, line in enumerate(rows) if n not in rules]
    has_currency = any(_is_split_currency(text, cells[line]) for line in rows)
    if has_currency:
        cells = {line: _join_currency(text, found) for line, found in cells.items()}
    written = [_texts(text, cells[line]) for line in rows]
    is_ruled = bool(rules) and min(rules) <= _MOST_HEADER_ROWS and not drawn
    count = min(rules) if is_ruled else known if drawn else max(known, _count_header(written))
    if not may_have_header or (is_ruled and not any(any(row) for row in written[:count])):
        count = 0
    body = [row for row in written[count:] if any(row)]
    width = _usual_size(body)
    names = [join_lines(written[:count])] if count and drawn else written[:count]
    columns = _name_columns(names, width, [len(row) for row in body])
    made = _label_rows(text, lines, rows[count:], cells)
    if count and (named := _split_fields(text, made, columns)):
        made = named
    header = tuple(GridRow(start=a, end=b, cells=cells[a, b], label="") for a, b in rows[:count])
    if has_currency:  # rows of another number of cells have no known column
        made = tuple(row if len(row.cells) in (width, 1) else _without_columns(row, len(columns)) for row in made)
    return TextGrid(start=start, end=end, columns=columns, header=header, rows=made)


def _without_columns(row: GridRow, width: int) -> GridRow:
    return replace(row, names=("",) * len(row.cells)) if width else row


def _is_markdown(text: str, rows: Sequence[tuple[int, int]]) -> bool:
    first = [text[slice(*row)] for row in rows[:_LOOKED_AT]]
    return bool(first) and all(is_typed(line) or line.strip() == "|" or is_rule([line.strip()]) for line in first)


def _split(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    bars = [match.start() for match in _BAR.finditer(text, start, end)]
    return _strip_all(text, zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True))


def _typed_ranges(text: str, start: int = 0, end: int | None = None) -> tuple[tuple[int, int], ...]:
    end = len(text) if end is None else end
    bars = [match.start() for match in _TYPED_BAR.finditer(text, start, end)]
    found = _strip_all(text, zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True))
    first = 1 if found and found[0][0] == found[0][1] else 0
    last = len(found) - (1 if len(found) > 1 and found[-1][0] == found[-1][1] else 0)
    return found[first:last] or found[:1]  # a bar alone is a row of one empty cell


def _strip_all(text: str, places: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    stripped = []
    for start, end in places:
        piece = text[start:end]
        begin = start + len(piece) - len(piece.lstrip())
        words = piece.strip()
        stripped.append((begin, begin + len(words)) if words else (start, start))
    return tuple(stripped)


def _texts(text: str, places: Iterable[tuple[int, int]]) -> list[str]:
    return [one_line(text[slice(*place)]) for place in places]


def _is_split_currency(text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a sign of currency stands apart from its amount, as PDFs have it (`Net income | $ | 19,881 $ | 5`)."""
    return any(text[a:b] in "$€£¥" for a, b in places[:-1] if a < b) or any(
        _CURRENCY_AFTER.search(text[a:b]) and is_amount(text[a:b]) for a, b in places[:-1]
    )


def _join_currency(text: str, places: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined = []
    for start, end in places:
        words = text[start:end]
        if words and words in "$€£¥":
            continue
        shorter = words[:-1].rstrip() if _CURRENCY_AFTER.search(words) else words
        joined.append((start, start + len(shorter)))
    return tuple(joined) or tuple(places)


def _count_header(rows: Sequence[Sequence[str]]) -> int:
    """Returns how many of the first rows name columns: they have no amount, and rows below have.

    A row below the first row belongs to the header if one of these holds:
    - its first cell, above the labels, is empty or the same as in the first row;
    - all its cells are dates, or it has the years of the dates above it;
    - names that span several columns are above it.
    """
    count = 0
    for row in rows[: min(_MOST_HEADER_ROWS, len(rows) - 1)]:
        has_years = count > 0 and bool(_join_dates(rows[count - 1], row))
        goes_on = row[0] in ("", rows[0][0]) or all(is_date(cell) for cell in row if cell)
        is_named = _may_name(row) and (not count or goes_on or _spans(rows[count - 1], row))
        if not is_named and not has_years:
            break
        count += 1
    body = rows[count:]
    if not count or _are_alike(rows[count - 1], body[0]):
        return 0
    if count > 1 or not rows[0][0] or any(is_amount(cell) for row in body for cell in row[1:] if cell):
        return count
    return int(len(set(rows[0])) == len(rows[0]) and all(rows[0]) and not _is_pair(rows))


def _spans(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a row without a label has names that span columns of the row below."""
    return not row[0] and all(below) and (not all(row[1:]) or len(row) < len(below))


def _are_alike(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a column has dates in both rows, which have labels: both are data."""
    dates = any(is_date(cell) and is_date(under) for cell, under in zip(row[1:], below[1:], strict=False))
    return dates and bool(row[0] and below[0])


def _is_pair(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows without figures are pairs of a name and a value, of which the first is like the others."""
    return len(rows) < 3 or any(":" in row[0] for row in rows[:2])


def _may_name(row: Sequence[str]) -> bool:
    named = [cell for cell in row if cell]
    if not named or any(len(cell) > _LONGEST_NAME for cell in named):
        return False
    return not any(map(is_amount, named)) and not are_fields(row) and not has_page_number(row)


def _usual_size(rows: Sequence[Sequence[str]]) -> int:
    counts = Counter(map(len, rows))
    return max(counts, key=lambda width: (counts[width], width)) if counts else 0


def usual_width(rows: Sequence[GridRow]) -> int:
    """Returns the number of cells that most rows have; 0 without rows."""
    return _usual_size([[""] * len(row.cells) for row in rows])


def _name_columns(header: Sequence[Sequence[str]], width: int, widths: Sequence[int]) -> tuple[str, ...]:
    """Returns the names of columns from the rows of a header, from top to bottom."""
    most = max([width, *widths, *map(len, header)], default=0)
    names: list[list[str]] = [[] for _ in range(most)]
    header = _join_rows(header)
    for number, row in enumerate(header):
        spread = _spread(row, width, is_last=number == len(header) - 1)
        for column, name in enumerate(spread[:most]):
            if name and name not in names[column]:
                names[column].append(name)
    joined = [_join_names(parts) for parts in names]
    return tuple(joined) if any(joined) else ()


def _join_rows(header: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Returns the rows of a header, those of months and days with the years below them."""
    joined: list[Sequence[str]] = []
    for row in header:
        dates = _join_dates(joined[-1], row) if joined else []
        joined = [*joined[:-1], dates] if dates else [*joined, row]
    return joined


def _join_dates(row: Sequence[str], below: Sequence[str]) -> list[str]:
    """Returns a row of years with the months and days above them, [] if these are not as many. Of `2023 | May 5, 2022`
    below `May 4,` the first is broken: what is empty above other columns may be left out.
    """
    days = [cell for cell in row if cell]
    years = [at for at, cell in enumerate(below) if _YEAR.fullmatch(cell)]
    if not days or len(days) != len(years) or not all(map(_DAY.fullmatch, days)):
        return []
    dates = dict(zip(years, days, strict=True))
    return [f"{dates[at]} {cell}" if at in dates else cell for at, cell in enumerate(below)]


def _join_names(parts: Sequence[str]) -> str:
    """Joins what stands above one another. `July 1,` above `2023` is one name, and `Year to May` above `31, 2023`."""
    joined = ""
    for part in parts:
        month = joined.rpartition(" ")[2]
        is_rest = part[0].isdigit() and is_date(part)
        is_one = joined.endswith(",") or (is_rest and (is_date(f"{joined} {part}") or is_date(f"{month} {part}")))
        joined = f"{joined}{' ' if is_one else HEADING_SEPARATOR}{part}" if joined else part
    return shorten(joined, _LONGEST_LABEL)


def _spread(row: Sequence[str], width: int, *, is_last: bool) -> list[str]:
    """Returns a row of a header with a name for each column. A name that spans columns is above all of them.

    A row that has a cell for each column, or an empty first cell, stays as it is. Otherwise the first column, of
    labels, has no name, and the others share the names of the row in equal parts.
    """
    if len(row) >= width or not row[0]:
        if is_last:
            return list(row)
        filled = list(row[:1])
        for cell in [*row[1:], *[""] * (width - len(row))]:
            filled.append(cell or (filled[-1] if len(filled) > 1 else ""))
        return filled
    if width - 1 >= len(row) and (width - 1) % len(row) == 0:
        times = (width - 1) // len(row)
        return ["", *(name for name in row for _ in range(times))]
    return []


def _label_rows(
    text: str,
    lines: Sequence[tuple[int, int]],
    rows: Sequence[tuple[int, int]],
    cells: dict[tuple[int, int], tuple[tuple[int, int], ...]],
) -> tuple[GridRow, ...]:
    """Returns the rows with their labels: the group above them, and their first cell, with the next cell if the first
    is a number, or others have the same first cell.
    """
    wanted = set(rows)
    group = pending = ""
    kinds = _count_kinds(text, (cells[row] for row in rows))
    firsts = Counter(text[slice(*cells[row][0])] for row in rows if cells[row])
    made: list[GridRow] = []
    last = ""
    for line in lines:
        written = one_line(text[slice(*line)])
        if line not in wanted:
            if not written:
                group = pending = ""
            elif line not in cells and not written.startswith("("):  # not a unit, as `(In millions)`
                group, pending = (written.rstrip(":"), "") if written.endswith(":") else (group, written)
            continue
        places = cells[line]
        own = _texts(text, places)
        at = _find_label(own, kinds)
        first = own[at] or last
        last = last if at else first
        label = first
        if pending and first[:1].islower():
            label = f"{pending} {first}"
        elif pending:
            group = pending
        pending = ""
        is_shared = firsts[text[slice(*places[0])]] > 1 or not own[0] or is_amount(own[0])
        if not at and is_shared and len(own) > 2 and own[1] and not is_amount(own[1]):
            label = f"{label}{HEADING_SEPARATOR}{own[1]}"
        label = f"{group}{HEADING_SEPARATOR}{label}" if group else label
        made.append(
            GridRow(
                start=line[0],
                end=line[1],
                cells=places,
                label=shorten(label, _LONGEST_LABEL),
                named_by=places[at] if own[at] else None,
            )
        )
    return tuple(made)


def _count_kinds(text: str, rows: Iterable[Sequence[tuple[int, int]]]) -> list[int]:
    """Returns for each column how many of its cells are amounts, less how many are words, in rows with a first cell."""
    kinds: list[int] = []
    for places in rows:
        kinds += [0] * (len(places) - len(kinds))
        is_labelled = bool(places) and places[0][0] < places[0][1]
        for column, place in enumerate(places if is_labelled else ()):
            if cell := one_line(text[slice(*place)]):
                kinds[column] += 1 if is_amount(cell) or is_date(cell) else -1
    return kinds


def _find_label(cells: Sequence[str], kinds: Sequence[int]) -> int:
    """Returns which cell is the label of a row: the first cell, or words behind empty cells, in a column of amounts or
    for a sum (`Total due` beside the sum of an invoice).
    """
    at = next((n for n, cell in enumerate(cells) if cell), 0)
    if not at or at + 1 >= len(cells) or is_amount(cells[at]) or is_date(cells[at]):
        return 0
    return at if kinds[at] > 0 or _SUM.match(cells[at]) else 0


def _split_fields(text: str, rows: Sequence[GridRow], columns: Sequence[str]) -> tuple[GridRow, ...]:
    """Returns rows whose cells say their names (`Rate: 345 | Name: Bo`), as workbooks have them; () if they do not."""
    known = {column.replace(HEADING_SEPARATOR, " "): column for column in columns if column}
    found = [_read_fields(text, row, known) for row in rows]
    return tuple(row for row in found if row) if found and all(found) else ()


def _read_fields(text: str, row: GridRow, known: Mapping[str, str]) -> GridRow | None:
    names, places = [], []
    for start, end in row.cells:
        match = _longest_name(text, start, end, known)
        names.append(known.get(match, ""))
        places.append((start + len(match) + 2, end) if match else (start, end))
    if 2 * sum(map(bool, names)) <= len(names):
        return None
    return replace(row, cells=tuple(places), names=tuple(names), label=_first_value(text, places))


def _longest_name(text: str, start: int, end: int, known: Mapping[str, str]) -> str:
    """Returns the longest of the known names with which a cell begins, or ''. Each colon is looked at once."""
    colons = _COLON.finditer(text, start, min(end, start + _LONGEST_LABEL + 2))
    names = [name for colon in colons if (name := text[start : colon.start()]) in known]
    return names[-1] if names else ""


def count_fields(text: str) -> Counter[str]:
    """Returns how many rows such as `Name: Bo; Rate: 290` have each name of a cell."""
    records = (_split_record(text, *match.span()) for match in _LINE.finditer(text))
    return Counter(name for parts in records for name in {name for name, _, _ in parts} if name)


def _read_records(text: str, grids: Sequence[TextGrid], known: Collection[str]) -> list[TextGrid]:
    """Returns the tables of rows that say the names of their cells, and that no header is above.

    They are `Name: Bo; Rate: 290`, of delimited text, and `Name: Bo | Rate: 290`, of a workbook's later passages, where
    a table without a header was found.
    """
    found: list[list[GridRow]] = []
    taken = [grid for grid in grids if any(row.names for row in grid.rows) or grid.columns]
    fields: list[tuple[tuple[int, int], list[tuple[str, int, int]]]] = []
    for match in _LINE.finditer(text):
        line = match.span()
        parts = [] if _overlaps(taken, line[0], line[0] + 1) else _split_record(text, *line)
        if parts:
            fields.append((line, parts))
    counts = Counter(name for _, parts in fields for name, _, _ in parts)
    names = {name for name, count in counts.items() if name and (count > 1 or 2 * count >= len(fields))}
    names |= {name for name in counts if name in known}
    names |= _find_single_names(text, [parts for _, parts in fields], names)
    for line, parts in fields:
        joined = _join_unnamed(parts, names)
        if len(joined) < 2:
            continue
        places = [(start, end) for _, start, end in joined]
        row = GridRow(
            start=line[0],
            end=line[1],
            cells=tuple(places),
            names=tuple(name for name, _, _ in joined),
            label=_first_value(text, places),
        )
        if found and found[-1][-1].end == line[0]:
            found[-1].append(row)
        else:
            found.append([row])
    return [TextGrid(start=rows[0].start, end=rows[-1].end, columns=(), header=(), rows=tuple(rows)) for rows in found]


def _split_record(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Returns the name and place of each part of a line that begins with a name; empty if it is no record."""
    if not _FIELD.match(text, start, end):
        return []
    pattern = _BAR if _BAR.search(text, start, end) else _SEMICOLON
    marks = [match.span() for match in pattern.finditer(text, start, end)]
    ends = [*(mark[0] for mark in marks), end]
    parts = []
    for begin, stop in _strip_all(text, zip([start, *(mark[1] for mark in marks)], ends, strict=True)):
        name = _FIELD.match(text, begin, stop)
        parts.append((one_line(name[1]), name.end(), stop) if name else ("", begin, stop))
    return parts if len(parts) > 1 and 2 * sum(bool(name) for name, _, _ in parts) > len(parts) else []


def _find_single_names(
    text: str, records: Sequence[Sequence[tuple[str, int, int]]], names: Collection[str]
) -> set[str]:
    """Returns the names that only one row has, of a column that is empty in all others: the part before such a name is
    a whole cell of another row (`Status: Paid; Paid On: 3 May` beside `Status: Paid`).
    """
    cells = Counter((name, text[start:end]) for parts in records for name, start, end in parts)
    return {
        name
        for parts in records
        for (before, start, end), (name, _, _) in pairwise(parts)
        if name and name not in names and before in names and cells[before, text[start:end]] > 1
    }


def _join_unnamed(parts: Sequence[tuple[str, int, int]], names: set[str]) -> list[tuple[str, int, int]]:
    """Returns the parts that begin with a name that most rows have; others belong to the part before them."""
    joined: list[tuple[str, int, int]] = []
    for name, start, end in parts:
        if name in names:
            joined.append((name, start, end))
        elif joined:
            joined[-1] = (*joined[-1][:2], end)
    return joined


def _first_value(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Returns the label of a row whose cells have their names: the first value, and after a number the next value."""
    values = _texts(text, places[:2])
    if len(places) > 2 and is_amount(values[0]) and values[1] and not is_amount(values[1]):
        return shorten(HEADING_SEPARATOR.join(values), _LONGEST_LABEL)
    return shorten(values[0], _LONGEST_LABEL) if values else ""

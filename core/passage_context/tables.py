"""Tables in plain text: runs of lines whose cells are separated by bars, and the rows that name their columns.

Loaders write a row of a table as one line (`Name | Rate`), and Markdown has its tables as they are typed
(`| Name | Rate |`); others are drawn, with rules as `+------+------+`. A row tells little without the names of its
columns. Open this to find them.

A drawn table may have a rule below each row, so a rule alone tells no header. Its header is what stands between the
rule above the table and the next rule, or above a rule of `=`. A passage that begins within a table has neither.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.text.sentences import Range, split_sentences
from core.text.shortening import shorten
from core.text.titles import one_line

BAR = " | "

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_TYPED_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+(?:\+-+)*:?")
"""A cell of the line below the header in Markdown, or that line of Org, `|-----+-----|`."""
_BOX_RULE = re.compile(r"[ \t]{0,40}\+(?:[-=]{2,500}\+){1,100}\s*")
"""The line between rows of a drawn table, `+------+-----+`, as RFCs have it."""
_OPEN_RULE = re.compile(r"[ \t]{0,40}-{2,500}(?:\+-{2,500}){1,100}\s*")
"""The line below the header of a table without a frame, `------+-----`, as clients of databases print it."""
_SIGNS = frozenset({"%", "‰", "€", "$", "£", "¥", "#", "+/-", "±", "Δ%"})
_PAGE = re.compile(r"(?:page|seite|p\.|s\.|pagina|página) ?\d{1,5}(?: ?(?:of|von|de|sur|/) ?\d{1,5})?", re.IGNORECASE)
_FIELD = re.compile(r"[^:]{1,200}: \S")
_CURRENCY = re.compile(r"\b(?!(?:VAT|TVA|GST|IVA|BTW|UST|MAX|MIN|TYP)\b)[A-Z]{3}\b|%|\b(?:[mb]n|[kKmM])\b")
_YEAR = r"(?:1[89]|20)\d\d"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|fév|avr|aoû|déc)[^\W\d]{0,6}\.?"
_DATE = re.compile(
    rf"(?:(?:[QH][1-4]|FY) ?)?{_YEAR}|{_YEAR}-\d\d(?:-\d\d)?|\d\d?[./]\d\d?[./]\d{{2,4}}"
    rf"|(?:\d\d?\.? )?{_MONTH} (?:\d\d?,? )?{_YEAR}|{_MONTH} \d\d?,?|\d\d?, {_YEAR}",
    re.IGNORECASE,
)
"""2024, Q1 2024, 2024-03-31, 31.3.2024, March 2024, March 31, 2024, 31. März 2024; and what a narrow column breaks:
March 31, above a year, and 31, 2024 below a month.
"""

_LONGEST_ROW = 2000
_LONGEST_NAME = 60
"""Characters of the name of a column. Longer cells are text."""
_LONGEST_HEADER = 120
_LOOKED_AT = 5
"""The first rows of a table, which show where its header ends."""
_MOST_HEADER_ROWS = 3
_LONGEST_LABEL = 80
_MOST_LABELS = 2
"""Lines between rows of a table, such as "Operating expenses:", and their characters."""
_FEWEST = 3
"""Rows of a table that has a header. Of two lines without a rule between them, none is known to be the header."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextTable:
    """The rows `text[start:end]`, one a line. The rows before `body` name the columns.

    The range includes lines between rows that are no rows, such as empty lines. `header` has the names on one line,
    with `BAR` between them and ` / ` between rows; '' if no row names the columns, and `body` is `start`.
    """

    start: int
    body: int
    end: int
    header: str
    has_periods: bool
    """Whether the header has years or dates, as in a report, which is the same for most of its tables."""


def is_row(line: str) -> bool:
    """Returns whether a line is a row of a table: it has two cells or more, of which the first may be empty, or it is a
    rule between such rows.
    """
    return len(line) <= _LONGEST_ROW and (BAR in line or line.startswith("| ") or is_typed(line) or is_drawn(line))


def is_drawn(line: str) -> bool:
    """Returns whether a line is a rule of a drawn table, which belongs to it and begins none."""
    first = line.lstrip()[:1]
    return (first == "+" and _BOX_RULE.fullmatch(line) is not None) or (
        first == "-" and _OPEN_RULE.fullmatch(line) is not None
    )


def find_tables(text: str) -> Iterator[TextTable]:
    """Yields the tables of a text, in order. Takes time in proportion to its length.

    Empty lines and a few short lines between rows, as tables of reports have them, do not end a table, unless a row
    that may name columns follows, which is not the next row below a cell that is broken over two lines.
    """
    rows: list[tuple[int, int]] = []  # the first of a table
    end = between = 0
    before, last, has_top = "", "", False  # whether a rule is above the table
    for line in _LINE.finditer(text):
        if is_row(line[0]) and (rows or not is_drawn(line[0])):
            is_near = text.count("\n", end, line.start()) == between  # no empty line
            goes_on = rows and is_near and _is_like(last, line[0])
            if rows and end < line.start() and _may_begin(line[0]) and not goes_on:
                yield _make_table(text, rows, end, has_top=has_top)
                rows = []
            has_top = has_top if rows else is_drawn(before)
            end, between, last = line.end(), 0, line[0]
            if len(rows) < _LOOKED_AT:
                rows.append(line.span())
        elif rows:
            between += bool(line[0].strip())
            if between > _MOST_LABELS or not _is_label(line[0]) or is_typed(text[slice(*rows[0])]):
                yield _make_table(text, rows, end, has_top=has_top)
                rows = []
        before = line[0]
    if rows:
        yield _make_table(text, rows, end, has_top=has_top)


def goes_on(above: str, text: str) -> bool:
    """Returns whether a text begins with a row of the typed or drawn table with which the text above it ends.

    A text that begins another table does not: a drawn table begins with its own rule, and a Markdown table has a rule
    in its second line.
    """
    last = above[above.rstrip().rfind("\n") + 1 :].strip()
    own = [line.strip() for line in text[: 2 * _LONGEST_ROW].lstrip().split("\n", _LOOKED_AT)[:_LOOKED_AT]]
    first = own[0]
    if not all(len(line) <= _LONGEST_ROW and (is_typed(line) or is_drawn(line)) for line in (first, last)):
        return False
    if is_drawn(first) and is_drawn(last):
        return False
    if any(is_drawn(line) and "=" in line for line in own) or (len(own) > 1 and _is_rule_of_markdown(own[1])):
        return False
    widths = {_count_cells(line) for line in (first, last)}
    return len(widths) == 1


def _is_rule_of_markdown(line: str) -> bool:
    return is_typed(line) and is_rule(split_cells(line))


def _count_cells(line: str) -> int:
    return line.count("+") - 1 if is_drawn(line) else len(split_cells(line))


def split_units(text: str) -> list[Range]:
    """Returns the ranges of the units that are quoted whole, in order: rows of tables, and the sentences between them.

    Each range includes the white space after it. Blank ranges are left out.
    """
    units: list[Range] = []
    at = 0
    for line in _LINE.finditer(text):
        if is_row(line[0]):
            units += _shift(split_sentences(text[at : line.start()]), at)
            units.append(line.span())
            at = line.end()
    return units + _shift(split_sentences(text[at:]), at)


def _shift(ranges: Sequence[Range], by: int) -> list[Range]:
    return [(start + by, end + by) for start, end in ranges]


def _make_table(text: str, places: Sequence[tuple[int, int]], end: int, *, has_top: bool) -> TextTable:
    """Returns the table that ends at `end`. `places` are where its first rows are; `has_top`: a rule is above them."""
    rows = [split_cells(text[slice(*place)]) for place in places]
    rule = next((n for n, row in enumerate(rows) if is_rule(row)), 0)
    drawn = bool(rule) and is_drawn(rows[rule][0])
    count = _count_drawn_header(rows, rule, has_top=has_top) if drawn else _count_header_rows(rows)
    header = [row for row in rows[:count] if not is_rule(row)]
    names = " / ".join(map(_write_names, [join_lines(header)] if drawn and header else header))
    return TextTable(
        start=places[0][0],
        body=places[count][0],
        end=end,
        header=shorten(names, _LONGEST_HEADER),
        has_periods=any(is_date(cell) for row in rows[:count] for cell in row),
    )


def _write_names(row: Sequence[str]) -> str:
    """Returns the names of a row of a header, each once where it is repeated for columns beside one another."""
    names = [cell for cell, before in zip(row, ["", *row], strict=False) if cell != before]
    return BAR.join(names)


def _may_begin(line: str) -> bool:
    cells = split_cells(line)
    return _are_names(cells) or _are_periods(cells)


def _is_like(above: str, line: str) -> bool:
    """Returns whether two rows are of one kind, so that the second names no columns: they have as many cells, and in
    one column the same words or identifiers, as in rows between which a broken cell goes on.
    """
    rows = split_cells(above), split_cells(line)
    if len(rows[0]) != len(rows[1]):
        return False
    is_same = any(cell and cell == under and not is_amount(cell) for cell, under in zip(*rows, strict=True))
    return is_same or _go_on(*rows)


def _is_label(line: str) -> bool:
    """Whether a line may stand between the rows of a table: it is short, and no sentence."""
    stripped = line.strip()
    return len(stripped) <= _LONGEST_LABEL and not stripped.endswith((".", "!", "?", "。"))


def are_labels(text: str) -> bool:
    """Returns whether a text has no lines but a few that may stand between the rows of a table, or none."""
    lines = [line for line in text[: 2 * _MOST_LABELS * _LONGEST_LABEL].split("\n") if line.strip()]
    return len(text) < 2 * _MOST_LABELS * _LONGEST_LABEL and len(lines) <= _MOST_LABELS and all(map(_is_label, lines))


def is_typed(line: str) -> bool:
    """Returns whether a line is a row of Markdown, which begins and ends with a bar.

    A row of another table begins with a bar if its first cell is empty; it never ends with one.
    """
    stripped = line.strip()
    return len(stripped) > 1 and stripped.startswith("|") and stripped.endswith("|")


def split_cells(line: str) -> list[str]:
    """Returns the cells of a row, each on one line. Bars at the ends of a row of Markdown separate nothing."""
    if not is_typed(line):
        return [one_line(cell) for cell in f" {line.rstrip()} ".split(BAR)]
    cells = [one_line(cell) for cell in _TYPED_BAR.split(line.strip())[1:]]
    return cells[:-1] if cells and not cells[-1] else cells


_FEWEST_OF_PART = 2
"""Columns of a part of a table: the label and one value. A single name repeated is no header."""


def _count_header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Returns how many of the first rows of a table are its header, with the rule of Markdown below it."""
    if len(rows) > 1 and is_rule(rows[1]):
        return 2 if len(rows) > 2 and any(rows[0]) else 0
    if len(rows) < _FEWEST or not (_are_names(rows[0]) or _are_periods(rows[0])):
        return 0
    if _repeat_names(rows[0], rows[1]) or _go_on(rows[0], rows[1]):
        return 0
    # "Three months ended | Nine months ended" stands above "June 2023 | June 2022 | June 2023 | June 2022".
    count = 1
    while count < min(len(rows), _MOST_HEADER_ROWS) and _are_periods(rows[count]):
        count += 1
    if count == len(rows) or _are_periods(rows[count]) or _is_broken(rows[count - 1 :]):
        return 0
    return 0 if count == 1 and _are_dates(rows[0]) and _are_dates(rows[1]) else count


def _is_broken(rows: Sequence[Sequence[str]]) -> bool:
    """Whether names are broken over several lines, as "Cash and | Fair" above "cash equivalents | value | Level" is.

    The row below has no amount, as rows further below have, and another number of cells. Such a header would be
    misleading.
    """
    first, below, *others = rows
    if len(first) == len(below) or any(map(is_amount, below)) or is_date(below[-1]):
        return False
    return any(map(is_amount, (cell for row in others for cell in row)))


def is_rule(row: Sequence[str]) -> bool:
    """Returns whether the cells are a rule between rows: of Markdown, or one cell of a drawn table."""
    return bool(row) and (all(_RULE.fullmatch(cell) for cell in row) or (len(row) == 1 and is_drawn(row[0])))


def _count_drawn_header(rows: Sequence[Sequence[str]], rule: int, *, has_top: bool) -> int:
    """Returns how many of the first rows of a drawn table are its header, including the rule below it, which is the
    first rule. Without a rule above the table, names above amounts are a header.
    """
    above, below = rows[:rule], [row for row in rows[rule + 1 :] if not is_rule(row)]
    if not rule <= _MOST_HEADER_ROWS or not below or not any(map(any, above)):
        return 0
    if "=" in rows[rule][0] or not rows[rule][0].startswith("+"):
        return rule + 1
    are_names = not any(is_amount(cell) for row in above for cell in row if cell)
    has_amounts = any(is_amount(cell) for row in below for cell in row[1:] if cell)
    return rule + 1 if are_names and len(set(map(len, above))) == 1 and (has_top or has_amounts) else 0


def join_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the cells of several lines that are one row, as between two rules of a drawn table."""
    width = max(map(len, rows))
    return [" ".join(row[n] for row in rows if n < len(row) and row[n]) for n in range(width)]


def _are_names(row: Sequence[str]) -> bool:
    """Whether cells may name columns: each is short, none is an amount, and no two are the same, unless the table has
    parts of the same columns side by side (`count_part`).

    They may be years and dates, if all of them are, but perhaps the first, which stands above the names of rows.
    """
    named = [cell for cell in row if cell]
    if are_fields(row) or has_page_number(row):
        return False
    if len(named) < 2 or len(row) - len(named) > 1 or any(len(cell) > _LONGEST_NAME for cell in named):
        return False
    if _are_dates(row):
        return True
    part = count_part(row)
    return len(set(row[:part]) - {""}) == len(named) * part // len(row) and not any(
        is_amount(cell) or is_date(cell) for cell in named
    )


def count_part(names: Sequence[str]) -> int:
    """Returns how many columns a part of a table has that has parts of the same columns side by side, as `City | Size |
    City | Size`: 2 of these 4; all columns if there is one part.
    """
    count = len(names)
    return next(
        (
            part
            for part in range(_FEWEST_OF_PART, count // 2 + 1)
            if not count % part and all(names) and list(names) == list(names[:part]) * (count // part)
        ),
        count,
    )


def are_fields(row: Sequence[str]) -> bool:
    """Returns whether most cells say their names themselves (`Rate: 345`), so that the row names no columns."""
    return 2 * sum(_FIELD.match(cell) is not None for cell in row) > len(row)


def has_page_number(row: Sequence[str]) -> bool:
    """Returns whether a cell is the number of a page: the row is the foot of a page."""
    return any(_PAGE.fullmatch(cell) for cell in row)


def _are_dates(row: Sequence[str]) -> bool:
    following = [cell for cell in row[1:] if cell]
    return bool(following) and all(is_date(cell) for cell in following) and not (row[0] and is_amount(row[0]))


def _are_periods(row: Sequence[str]) -> bool:
    """Whether most cells are years and dates, as in the last row of a header, and the others have no number."""
    named = [cell for cell in row if cell]
    dates = [cell for cell in named if is_date(cell)]
    if not named or not is_date(named[0]) or 2 * len(dates) <= len(named):
        return False
    return not any(character.isdigit() for cell in named if not is_date(cell) for character in cell)


def is_date(cell: str) -> bool:
    return len(cell) <= _LONGEST_NAME and _DATE.fullmatch(cell) is not None


def is_amount(cell: str) -> bool:
    """Whether a cell has a number, or the dash that stands for none, and no words but a currency or unit. A sign alone,
    such as `%`, names a column.
    """
    if len(cell) > _LONGEST_NAME or is_date(cell) or cell in _SIGNS:
        return False
    rest = _CURRENCY.sub("", cell) if any(character.isdigit() for character in cell) else cell
    return not any(character.isalpha() for character in rest)


def _go_on(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a column has identifiers in both rows, such as `uc3a0512` above `x128a1`: both are data."""
    return any(_is_identifier(cell) and _is_identifier(under) for cell, under in zip(row, below, strict=False))


def _is_identifier(cell: str) -> bool:
    return " " not in cell and any(map(str.isalpha, cell)) and any(map(str.isdigit, cell)) and not is_date(cell)


def _repeat_names(names: Sequence[str], row: Sequence[str]) -> bool:
    """Whether the cells of a row say their names themselves, as cells of spreadsheets do (`Rate: 345`)."""
    return any(cell.startswith(f"{name}: ") for name, cell in zip(names, row, strict=False) if name)

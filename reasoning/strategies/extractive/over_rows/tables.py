"""The tables of one document with all their rows, as its passages have them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise

from core.corpora import Corpus
from core.documents import Chunk, Span
from core.errors import LoadFailed
from core.execution.limits import WorkLimit, check_work
from core.execution.threads import compute
from core.passage_context import split_heading
from core.passage_context.grids import GridRow, TextGrid, usual_width
from core.passage_context.tables import has_page_number
from core.ports.retrieval import Hit
from core.ports.surveying import DocumentFinder, WordsAsked
from reasoning.strategies.extractive.over_rows.question.times import Day, find_month, read_days
from reasoning.strategies.extractive.over_rows.total_rows import find_totals, is_like_total, is_named_total
from reasoning.strategies.survey.repeated_rows import RepeatedRows
from reasoning.strategies.survey.row_judging import Cell, read_cell, read_flag
from reasoning.strategies.survey.values import Amount, has_points, read_document_grids, stems_of

MOST_PASSAGES = 3_000
"""Passages of a document that are read for the rows of its tables: some 20,000 rows of a CSV file."""
MOST_SECONDS = 20
"""Seconds of the processor that the tables of a document may take."""
_MARK = re.compile(r"[|;]|: ")
_NAMELESS = re.compile(r"column \d{1,4}|")
_ALIKE = 0.5
"""The least share of a row's columns that a table has, if the row belongs to it."""
_CENTRES = re.compile(r"\b(?:(?:cost|profit) cent(?:er|re)s?|Kostenstellen?|centres? de coûts?)\b", re.IGNORECASE)
"""Columns whose numbers are names, though a word for an amount is in theirs."""
_SURE_FLAGS = frozenset({"yes", "no", "ja", "nein", "true", "false", "✓", "✔", "✗"})
_YEARS = stems_of("year years Jahr Baujahr année an")
_EARLIEST, _LATEST = 1900, 2099
_FEWEST_PLACES = 4
"""Rows of a table whose column of numbers may be places within groups."""
_MOSTLY = 0.5
"""The least share of a column's cells that are amounts, or dates, if it is a column of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """A row: its cells by the names of their columns, and where it stands. `is_total`: it is named as a total."""

    chunk: Chunk
    span: Span
    cells: dict[str, str]
    is_total: bool
    parts: "Mapping[str, TableRow]" = field(default_factory=dict)
    """The rows in which the cells of a column stand that is read as a row, by their labels."""

    @property
    def text(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


@dataclass(kw_only=True)
class Table:
    """A table of the document of `hit`, which may go on in several passages. `heading` names its sheet or section.

    `unread` rows have another number of cells than the table has columns, or are cut where a passage ends. `lead` is
    the line above the table, which alone tells it from a table with the same columns below it (`has_twin`). Its
    header may stand there again within a passage (`headers`): below it may be another table, or the next page.
    `called` is the word for one row, "column" if columns of the document's table are read as rows.
    """

    hit: Hit
    heading: str
    columns: list[str]
    rows: list[TableRow] = field(default_factory=list)
    unread: int = 0
    lead: str = ""
    has_twin: bool = False
    headers: int = 1
    called: str = "row"

    def is_like(self, other: "Table") -> bool:
        """Returns whether another table of the document has the same columns under the same heading."""
        is_near = self.hit.document.id == other.hit.document.id and self.heading == other.heading
        return is_near and self.columns == other.columns

    @property
    def totals(self) -> list[TableRow]:
        return [row for row in self.rows if row.is_total]

    @property
    def body(self) -> list[TableRow]:
        """The rows that are no totals."""
        return [row for row in self.rows if not row.is_total]

    @property
    def like_totals(self) -> list[str]:
        """The names of rows of the body that may be totals."""
        names = (next(filter(None, row.cells.values()), "") for row in self.body)
        return [name for name in names if is_like_total(name)]

    @property
    def label(self) -> str:
        """The column that names the rows: the first column of words, else the first one."""
        words = [column for column in self.columns if column not in self.amounts and column not in self.dates]
        return next(iter([*words, *self.columns]))

    @property
    def is_labelled(self) -> bool:
        """Whether the column that names the rows has a name itself."""
        return _NAMELESS.fullmatch(self.label) is None

    def finish(self) -> None:
        """Reads the amounts and dates of the columns, once all rows are there, and finds the rows of totals.

        `places` are columns of numbers that count within a group: the first, second, third lesson of a day.
        """
        self.amounts: dict[str, list[Amount | None]] = {}
        self.dates: dict[str, list[Day | None]] = {}
        self.places: set[str] = set()
        for column in self.columns:
            check_work()
            self._read_column(column)
        totals = find_totals([row.cells for row in self.rows], [row.is_total for row in self.rows], self.amounts)
        self.rows = [
            row if row.is_total == is_total else replace(row, is_total=is_total)
            for row, is_total in zip(self.rows, totals, strict=True)
        ]
        self._numbers = {id(row): number for number, row in enumerate(self.rows)}
        self.flags = {column: is_whole for column in self.columns if (is_whole := self._find_flags(column)) is not None}

    def _read_column(self, column: str) -> None:
        texts = [row.cells.get(column, "") for row in self.rows]
        pointed = has_points(texts)
        read = [read_cell(Cell(column=column, text=text, has_points=pointed)) for text in texts]
        filled = sum(bool(text) for text in texts)
        if not filled:
            return
        if sum(amount is not None for amount in read) >= _MOSTLY * filled and not _CENTRES.search(column):
            if _are_years(column, read):
                self.dates[column] = read_days(texts)
            elif _are_places(read):
                self.places.add(column)
            elif column != self.columns[0] or not _are_numbers_of_rows(column, read):
                self.amounts[column] = read
            return
        days = read_days(texts)
        if not any(days):
            days = [Day(year=0, month=month) if (month := find_month(text)) else None for text in texts]
        if sum(day is not None for day in days) >= _MOSTLY * filled:
            self.dates[column] = days

    def _find_flags(self, column: str) -> bool | None:
        """Returns whether all cells of a column say yes or no (True), or some do (False); None if none does surely."""
        texts = {text.casefold() for row in self.body if (text := row.cells.get(column, ""))}
        if {"x", "y"} <= texts or len(texts) < 2:
            return (bool(texts) and texts <= _SURE_FLAGS | {"x"}) or None
        if all(read_flag(text) is not None for text in texts):
            return True
        return False if texts & _SURE_FLAGS else None

    def amount(self, row: TableRow, column: str) -> Amount | None:
        """Returns the amount of a cell; of a date a number that grows with it."""
        number = self._numbers[id(row)]
        if column in self.amounts:
            return self.amounts[column][number]
        day = self.dates[column][number]
        return Amount(value=Decimal(day.year * 10_000 + day.month * 100 + day.day), unit="") if day else None

    def day(self, row: TableRow, column: str) -> Day | None:
        return self.dates[column][self._numbers[id(row)]]


def _are_years(column: str, amounts: Sequence[Amount | None]) -> bool:
    """Returns whether the numbers of a column are years, by its name."""
    values = [amount.value for amount in amounts if amount is not None]
    is_named = not _YEARS.isdisjoint(stems_of(column))
    return is_named and all(_EARLIEST <= value <= _LATEST and value == int(value) for value in values)


def _are_places(amounts: Sequence[Amount | None]) -> bool:
    """Returns whether numbers begin with 1, and each is one more than the number above, or 1 again."""
    if len(amounts) < _FEWEST_PLACES or any(amount is None or amount.unit for amount in amounts):
        return False
    values = [amount.value for amount in amounts if amount is not None]
    is_next = all(own in (1, before + 1) for before, own in pairwise(values))
    return values[0] == 1 and is_next and values.count(Decimal(1)) > 1 and max(values) > 1


def _are_numbers_of_rows(column: str, amounts: Sequence[Amount | None]) -> bool:
    """Returns whether the amounts of a first column are numbers that name the rows: whole, each once, without a
    unit.
    """
    values = [amount.value for amount in amounts if amount is not None]
    is_plain = all(not amount.unit for amount in amounts if amount is not None) and "(" not in column
    return is_plain and len(set(values)) == len(values) and all(value == int(value) for value in values)


def repeats(rows: Sequence[TableRow], column: str) -> bool:
    texts = [text.casefold() for row in rows if (text := row.cells.get(column, ""))]
    return len(set(texts)) < len(texts)


def read_passage(hit: Hit) -> list[Table]:
    """Returns the tables of the passage of a hit alone."""
    return _read(hit, [hit.chunk])


async def read_tables(
    finder: DocumentFinder,
    corpus: Corpus,
    hit: Hit,
    read_more: Callable[[Hit, Sequence[Chunk]], list[Table]] | None = None,
) -> list[Table] | None:
    """Returns the tables of a hit's document, in order, and behind these what `read_more` makes of its passages; None
    if it has more than `MOST_PASSAGES`, or if they take more than `MOST_SECONDS` of the processor.
    """
    id = hit.document.id
    found = await finder.find(corpus, WordsAsked(), frozenset([id]), 1)
    if any(candidate.passages > MOST_PASSAGES for candidate in found.documents):
        return None
    chunks = await finder.list_chunks(corpus, id)
    limit = WorkLimit(hit.document.key, MOST_SECONDS, "")

    def read() -> list[Table]:
        with limit.running():
            return _read(hit, chunks) + (read_more(hit, chunks) if read_more else [])

    try:
        return await compute(read)
    except LoadFailed:
        return None
    finally:
        limit.end()  # nobody waits any more


def _read(hit: Hit, chunks: Sequence[Chunk]) -> list[Table]:
    reading = _Reading(hit)
    for chunk, grids in zip(chunks, read_document_grids(chunks), strict=True):
        check_work()
        reading.read(chunk, grids)
    for table in reading.tables:
        table.finish()
    return reading.tables


class _Reading:
    """Reads the tables of a document from its passages, of which the next may repeat what the one before ends with."""

    def __init__(self, hit: Hit) -> None:
        self.tables: list[Table] = []
        self._hit = hit
        self._repeated = RepeatedRows()
        self._between = ""
        """The text since the last row."""
        self._seen: set[str] = set()
        self._first = 0
        """The first table to which rows may still be added."""
        self._last: TextGrid | None = None
        """The table with which the passage before ends."""

    def read(self, chunk: Chunk, grids: Sequence[TextGrid]) -> None:
        heading, names = split_heading(chunk.heading, chunk.text)
        repeated = self._repeated.find(chunk, [line for grid in grids for line in grid.rows])
        at, last = 0, None
        for found in grids:
            before = chunk.text[at : found.start]
            grid = found if at or before.strip() else self._continue(found, heading)
            if not at and self.tables and self.tables[-1].heading == heading and not grid.header:
                self._count_cut(before, goes_on=bool(names))
            self._between += before
            self._begin(grid, heading)
            if (
                at
                and grid.header
                and self.tables
                and self.tables[-1].columns == [name for name in grid.columns if name]
            ):
                self.tables[-1].headers += bool(self.tables[-1].rows)
            for line in grid.rows:
                if (line.start, line.end) not in repeated:
                    self._add(heading, chunk, grid, line)
            if self.tables and not self.tables[-1].lead and grid.header:
                self.tables[-1].lead = self._lead
            at, last = grid.end, grid
            self._between = ""
        self._between += chunk.text[at:] + "\n"
        self._last = last if grids and not chunk.text[at:].strip() else None

    def _continue(self, grid: TextGrid, heading: str) -> TextGrid:
        """Returns a table at the beginning of a passage with the columns of the table that the passage before ends
        with, if it has none itself and is as wide: headers of several rows are not repeated in each passage.
        """
        last = self._last
        if last is None or grid.header or any(grid.columns) or not self.tables or self.tables[-1].heading != heading:
            return grid
        if len(last.columns) != usual_width(grid.rows):
            self.tables[-1].unread += sum(not row.names for row in grid.rows)
            return grid
        return replace(grid, columns=last.columns)

    def _count_cut(self, before: str, *, goes_on: bool) -> None:
        """Counts a row that is cut where the passage before ends: its parts are no rows, and stand directly below and
        above others.
        """
        parts = [self._between.strip("\n"), before.strip("\n")]
        is_cut = any(map(str.strip, parts)) and not any("\n" in part for part in parts)
        if is_cut and (goes_on or any(_MARK.search(part) for part in parts)):
            self.tables[-1].unread += 1

    def _begin(self, grid: TextGrid, heading: str) -> None:
        """Begins another table if a table has the columns of one above, and text between both says what it is."""
        lines = [line for text in self._between.split("\n") if (line := " ".join(text.split()))]
        fresh = [line for line in lines if line not in self._seen and not has_page_number([line])]
        self._lead = fresh[-1] if fresh else ""
        self._seen.update(lines)
        named = [column for column in grid.columns if column]
        if not grid.header or not fresh:
            return
        twins = [table for table in self.tables if table.heading == heading and table.columns == named]
        for table in twins:
            table.has_twin = True
        if twins:
            self._first = len(self.tables)
            self.tables.append(Table(hit=self._hit, heading=heading, columns=named, lead=self._lead, has_twin=True))

    def _add(self, heading: str, chunk: Chunk, grid: TextGrid, line: GridRow) -> None:
        columns = list(line.names or grid.columns)
        named = [column for column in columns if column]
        if not named:
            return
        table = next(
            (
                table
                for table in reversed(self.tables[self._first :])
                if _belongs(table, heading, named, is_list=bool(line.names))
            ),
            None,
        )
        if table is None:
            table = Table(hit=self._hit, heading=heading, columns=named)
            self.tables.append(table)
        if len(line.cells) != len(columns) or len(set(named)) < len(named):
            table.unread += 1
            return
        for column in named:
            if column not in table.columns:
                table.columns.append(column)
        cells = dict(_read_cells(chunk.text, columns, line))
        if not any(cells.values()) or all(cells.get(column, "").casefold() == column.casefold() for column in named):
            return
        first = next(iter(cell for cell in cells.values() if cell), "")
        written = chunk.text[line.start : line.end]
        begin = line.start + len(written) - len(written.lstrip())
        table.rows.append(
            TableRow(
                chunk=chunk,
                span=Span(start=begin, end=begin + len(written.strip())),
                cells=cells,
                is_total=is_named_total(line.label) or is_named_total(first),
            )
        )


def _belongs(table: Table, heading: str, named: Sequence[str], *, is_list: bool) -> bool:
    if table.heading != heading:
        return False
    if not is_list:
        return table.columns == list(named)
    return sum(column in table.columns for column in named) >= _ALIKE * len(named)


def _read_cells(text: str, columns: Sequence[str], line: GridRow) -> Iterator[tuple[str, str]]:
    for column, (start, end) in zip(columns, line.cells, strict=True):
        if column:
            yield column, " ".join(text[start:end].split())

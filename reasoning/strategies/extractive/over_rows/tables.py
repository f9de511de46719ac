"""The tables of one document with all their rows, as its passages have them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.corpora import Corpus
from core.documents import Chunk, Span
from core.execution.threads import compute
from core.passage_context import split_heading
from core.passage_context.grids import GridRow, TextGrid
from core.ports.retrieval import Hit
from core.ports.surveying import DocumentFinder, WordsAsked
from reasoning.strategies.survey.row_judging import Cell, read_cell
from reasoning.strategies.survey.values import Amount, find_period, has_points, is_total, read_passage_grids

__all__ = ["MOST_PASSAGES", "Table", "TableRow", "read_passage", "read_tables"]

MOST_PASSAGES = 3_000
"""Passages of a document that are read for the rows of its tables: some 20,000 rows of a CSV file."""
_NAMELESS = re.compile(r"column \d{1,4}|")
_ALIKE = 0.5
"""The least share of a row's columns that a table has, if the row belongs to it."""
_MOSTLY = 0.5
"""The least share of a column's cells that are amounts, or dates, if it is a column of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """A row: its cells by the names of their columns, and where it stands. `is_total`: it is named as a total."""

    chunk: Chunk
    span: Span
    cells: dict[str, str]
    is_total: bool

    @property
    def text(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


@dataclass(kw_only=True)
class Table:
    """A table of the document of `hit`, which may go on in several passages. `heading` names its sheet or section.

    `unread` rows have another number of cells than the table has columns.
    """

    hit: Hit
    heading: str
    columns: list[str]
    rows: list[TableRow] = field(default_factory=list)
    unread: int = 0

    @property
    def totals(self) -> list[TableRow]:
        return [row for row in self.rows if row.is_total]

    @property
    def body(self) -> list[TableRow]:
        """The rows that are no totals."""
        return [row for row in self.rows if not row.is_total]

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
        """Reads the amounts and dates of the columns, once all rows are there."""
        self._find_sums()
        self.amounts: dict[str, list[Amount | None]] = {}
        self.dates: set[str] = set()
        for column in self.columns:
            texts = [row.cells.get(column, "") for row in self.rows]
            pointed = has_points(texts)
            read = [read_cell(Cell(column=column, text=text, has_points=pointed)) for text in texts]
            filled = sum(bool(text) for text in texts)
            if filled and sum(amount is not None for amount in read) >= _MOSTLY * filled:
                if column != self.columns[0] or not _are_numbers_of_rows(column, read):
                    self.amounts[column] = read
            elif filled and sum(find_period(text) is not None for text in texts) >= _MOSTLY * filled:
                self.dates.add(column)
        self._numbers = {id(row): number for number, row in enumerate(self.rows)}

    def _find_sums(self) -> None:
        """Marks rows as totals whose first cell begins with such a word, and whose amount is the sum of rows above."""
        since: list[TableRow] = []
        for number, row in enumerate(self.rows):
            first = next(iter(cell for cell in row.cells.values() if cell), "")
            ends = row.is_total
            if not ends and is_total(first.partition(" ")[0]) and _is_sum(row, since):
                self.rows[number] = replace(row, is_total=True)
                ends = True
            since = [] if ends else [*since, row]

    def amount(self, row: TableRow, column: str) -> Amount | None:
        return self.amounts[column][self._numbers[id(row)]]


def _are_numbers_of_rows(column: str, amounts: Sequence[Amount | None]) -> bool:
    """Returns whether the amounts of a first column are numbers that name the rows: whole, each once, without a
    unit.
    """
    values = [amount.value for amount in amounts if amount is not None]
    is_plain = all(not amount.unit for amount in amounts if amount is not None) and "(" not in column
    return is_plain and len(set(values)) == len(values) and all(value == int(value) for value in values)


def _is_sum(row: TableRow, above: Sequence[TableRow]) -> bool:
    for column, text in row.cells.items():
        amount = read_cell(Cell(column=column, text=text))
        parts = [read_cell(Cell(column=column, text=other.cells.get(column, ""))) for other in above]
        values = [part.value for part in parts if part is not None]
        if amount is not None and len(values) > 1 and amount.value == sum(values):
            return True
    return False


def read_passage(hit: Hit) -> list[Table]:
    """Returns the tables of the passage of a hit alone."""
    return _read(hit, [hit.chunk])


async def read_tables(finder: DocumentFinder, corpus: Corpus, hit: Hit) -> list[Table] | None:
    """Returns the tables of a hit's document, in order; None if it has more than `MOST_PASSAGES`."""
    id = hit.document.id
    found = await finder.find(corpus, WordsAsked(), frozenset([id]), 1)
    if any(candidate.passages > MOST_PASSAGES for candidate in found.documents):
        return None
    return await compute(_read, hit, await finder.list_chunks(corpus, id))


def _read(hit: Hit, chunks: Sequence[Chunk]) -> list[Table]:
    tables: list[Table] = []
    for chunk in chunks:
        heading = split_heading(chunk.heading, chunk.text)[0]
        for grid in read_passage_grids(chunk):
            for line in grid.rows:
                _add(tables, hit, heading, chunk, grid, line)
    for table in tables:
        table.finish()
    return tables


def _add(tables: list[Table], hit: Hit, heading: str, chunk: Chunk, grid: TextGrid, line: GridRow) -> None:
    columns = list(line.names or grid.columns)
    named = [column for column in columns if column]
    if not named:
        return
    table = next(
        (table for table in reversed(tables) if _belongs(table, heading, named, is_list=bool(line.names))), None
    )
    if table is None:
        table = Table(hit=hit, heading=heading, columns=named)
        tables.append(table)
    if len(line.cells) != len(columns) or len(set(named)) < len(named):
        table.unread += 1
        return
    for column in named:
        if column not in table.columns:
            table.columns.append(column)
    cells = dict(_read_cells(chunk.text, columns, line))
    if not any(cells.values()) or all(cells.get(column) == column for column in named):
        return
    first = next(iter(cell for cell in cells.values() if cell), "")
    written = chunk.text[line.start : line.end]
    begin = line.start + len(written) - len(written.lstrip())
    table.rows.append(
        TableRow(
            chunk=chunk,
            span=Span(start=begin, end=begin + len(written.strip())),
            cells=cells,
            is_total=is_total(line.label) or is_total(first),
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

"""Rows of tables as what a survey counts: the invoices of a list of invoices, the suppliers of a register.

A row counts instead of its document if its table lists what the question counts:

- a column has its name ("Invoice", "Supplier no."), whose cell names the row; rows of one name count once
- or the question counts the rows of any table ("How many records …?"): each row counts
- or the document is a table, and its title or key has the name in the plural, or beside a word for a list ("Invoices
  2024", "order-log.csv"); each row counts then, and the row's label names it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from core.documents import Chunk, DocumentRef, Span
from core.execution.threads import compute
from core.passage_context.grids import GridRow, TextGrid
from core.passage_context.tables import is_row
from core.ports.surveying import DocumentFinder, Wording
from core.text.terms import split_words
from reasoning.strategies.extractive.quoting.units import is_record
from reasoning.strategies.survey.judging import READ, Finding, Verdict
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.repeated_rows import RepeatedRows
from reasoning.strategies.survey.row_judging import Cell, column_stems, judge_row
from reasoning.strategies.survey.rows import Row
from reasoning.strategies.survey.values import has_points, is_total, read_document_grids, stems_of

MOST_READ = 200
"""Documents with tables that are read whole."""
_MOSTLY = 0.8
"""The least share of a document's text that is rows, if its title makes it a list."""
_NUMBERS = stems_of("number no nr id name code ref reference Nummer")
"""Stems of words beside the name in a column that names rows: "Invoice no.", unlike "Invoice date"."""
_LISTS = stems_of("list register log ledger overview journal index table Liste Verzeichnis")
_COMPOUND = re.compile(r"(?P<name>\w{3,30}?)(?:s|n|en)?(?:nummer|nr\.?)")
_NUMBER = re.compile(r"(?:no|nr|number|nummer|id|ref|reference)\.?", re.IGNORECASE)
"""A column of a list with the numbers of what it lists."""
_NAMED = re.compile(r"[^\W\d_]|\d{4}")
"""A name that tells a thing in all tables, unlike the number of a row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A row of a table in a counted document. `id` is equal for rows of one thing, and `name` is as the cell has it.
    `is_numbered`: the name is a number of a document or the like, from the column that names the rows.
    """

    row: Row
    id: str
    name: str
    chunk: Chunk
    span: Span
    cells: tuple[Cell, ...]
    is_numbered: bool = False

    @property
    def table(self) -> tuple[str, tuple[str, ...]]:
        """The table, which may go on in several passages: its document and the names of its columns."""
        return self.row.document.id, tuple(cell.column for cell in self.cells)

    @property
    def finding(self) -> Finding:
        return Finding(verdict=Verdict.YES, chunk=self.chunk, span=self.span)


@dataclass(kw_only=True)
class Listed:
    """What tables list. `items` are the rows that count, by document; `undecided` of the `read` rows are undecided.
    `tables` are the documents whose tables list what is counted, with the number of their undecided rows. Of the
    documents that were given, `left_out` were not read row by row.
    """

    items: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    read: int = 0
    left_out: int = 0

    @property
    def undecided(self) -> int:
        return sum(self.tables.values())

    def count(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Returns how many things count in the tables of these documents, and in how many rows."""
        items = [item for row in rows for item in self.items.get(row.document.id, ())]
        return len({item.id for item in items}), len(items)


async def read_items(
    finder: DocumentFinder, plan: Plan, rows: Sequence[Row], is_late: Callable[[], bool], *, unlisted: int = 0
) -> Listed:
    """Reads the documents whole whose passage has rows of a table, and returns what their tables list. Ends when it
    `is_late`; a document that was not read to its end is left out, as are `unlisted` documents with tables, which are
    not among the `rows`.
    """
    listed = Listed()
    wording = _read_wording(plan)
    if not (wording or plan.counts_rows) or plan.is_absence:
        return listed
    listed.left_out = unlisted
    there = [row for row in rows if row.has_rows]
    for number, row in enumerate(there):
        if number == MOST_READ or is_late():
            listed.left_out += len(there) - number
            break
        chunks = await finder.list_chunks(row.corpus, row.document.id)
        judged = await compute(_read_document, plan, wording, row, chunks, is_late)
        if judged is None:
            listed.left_out += 1
        elif judged:
            listed.tables[row.document.id] = sum(verdict is Verdict.UNDECIDED for _, verdict in judged)
            listed.read += len(judged)
            if counted := tuple(item for item, verdict in judged if verdict is Verdict.YES):
                listed.items[row.document.id] = counted
    return listed


def _read_wording(plan: Plan) -> Wording:
    if plan.kind_wording or plan.counts_rows:
        return plan.kind_wording
    names = [plan.kind] if plan.kind else plan.unit_names
    return frozenset(stems for name in names if (stems := stems_of(name)))


def _read_document(
    plan: Plan, wording: Wording, row: Row, chunks: Sequence[Chunk], is_late: Callable[[], bool]
) -> list[tuple[Item, Verdict]] | None:
    """Returns the rows of the tables that list what is counted, each with its verdict; [] if no table does, None if it
    is late. A row that goes on in the next passage is undecided.
    """
    of_passages = zip(chunks, read_document_grids(chunks), strict=True)
    read = [(number, chunk, grid) for number, (chunk, grids) in enumerate(of_passages) for grid in grids]
    length = sum(len(chunk.text) for chunk in chunks)
    in_rows = sum(line.end - line.start for _, _, grid in read for line in (*grid.header, *grid.rows))
    is_list = in_rows >= _MOSTLY * length and _is_named_list(row.document, wording)
    decimal = _find_decimal_columns(read)
    judged: list[tuple[Item, Verdict]] = []
    repeated = _find_repeated(read)
    for number, chunk, grid in read:
        heads = stems_of(f"{row.document.title}\n{chunk.heading}")
        is_cut = number + 1 < len(chunks) and not _begins_with_row(chunks[number + 1])
        for line in grid.rows:
            if is_late():
                return None
            if (number, line.start, line.end) in repeated:
                continue
            cells = tuple(_read_cells(grid, line, chunk.text, decimal))
            naming = next((cell for cell in cells if _names_rows(cell.column, wording)), None)
            if naming is None and is_list:  # a list of invoices whose column is `No.` alone
                naming = next((cell for cell in cells if _NUMBER.fullmatch(cell.column.strip())), None)
            if (
                is_total(line.label)
                or not (naming or is_list or plan.counts_rows)
                or not any(cell.text for cell in cells)
            ):
                continue
            item = _make_item(row, chunk, line, cells, naming)
            verdict = judge_row(plan, row.document.title, heads, cells, naming)
            is_last = is_cut and line is grid.rows[-1] and not chunk.text[line.end :].strip()
            judged.append((item, Verdict.UNDECIDED if is_last else verdict))
    return judged


def _find_repeated(read: Iterable[tuple[int, Chunk, TextGrid]]) -> set[tuple[int, int, int]]:
    """Returns the rows that a passage before has, each as the number of its passage, its start and its end."""
    lines: dict[int, tuple[Chunk, list[GridRow]]] = {}
    for number, chunk, grid in read:
        lines.setdefault(number, (chunk, []))[1].extend(grid.rows)
    rows = RepeatedRows()
    return {(number, *place) for number, (chunk, of_chunk) in lines.items() for place in rows.find(chunk, of_chunk)}


def _begins_with_row(chunk: Chunk) -> bool:
    first = chunk.text[:READ].lstrip("\n").split("\n", 1)[0]
    return is_row(first) or is_record(first)


def _find_decimal_columns(read: Iterable[tuple[int, Chunk, TextGrid]]) -> frozenset[str]:
    """Returns the columns of a document that have decimals behind a point, in whichever passage."""
    cells: dict[str, list[str]] = {}
    for _, chunk, grid in read:
        for line in grid.rows:
            for cell in _read_cells(grid, line, chunk.text, frozenset()):
                cells.setdefault(cell.column, []).append(cell.text)
    return frozenset(column for column, texts in cells.items() if has_points(texts))


def _read_cells(grid: TextGrid, line: GridRow, text: str, decimal: frozenset[str]) -> Iterator[Cell]:
    columns = line.names or grid.columns
    for at, (start, end) in enumerate(line.cells):
        column = columns[at] if at < len(columns) else ""
        yield Cell(column=column, text=text[start:end].strip(), has_points=column in decimal)


def _names_rows(column: str, wording: Wording) -> bool:
    stems = column_stems(column)
    compound = _COMPOUND.fullmatch(column.strip().casefold())
    return any(wanted <= stems and stems - wanted <= _NUMBERS for wanted in wording) or (
        compound is not None and _is_wanted([compound["name"]], wording)
    )


def _is_named_list(document: DocumentRef, wording: Wording) -> bool:
    text = f"{document.title} {unquote(document.key)}".replace("_", " ").replace("-", " ").replace(".", " ")
    words = list(split_words(text))
    stems = {word.stem for word in words}
    is_plural = any(
        text[word.start : word.end].casefold().endswith(("s", "en")) and _is_wanted([word.stem], wording)
        for word in words
    )
    return _is_wanted(stems, wording) and (is_plural or not stems.isdisjoint(_LISTS))


def _is_wanted(stems: Collection[str], wording: Wording) -> bool:
    return any(wanted <= set(stems) for wanted in wording)


def _make_item(row: Row, chunk: Chunk, line: GridRow, cells: Sequence[Cell], naming: Cell | None) -> Item:
    written = chunk.text[line.start : line.end]
    begin = line.start + len(written) - len(written.lstrip())
    span = Span(start=begin, end=begin + len(written.strip()))
    name = " ".join((naming.text if naming else line.label).split())
    is_known = naming is not None and _NAMED.search(name)
    return Item(
        row=row,
        id=name.casefold() if is_known else f"{chunk.id} {span.start}",
        name=name,
        chunk=chunk,
        span=span,
        cells=tuple(cells),
        is_numbered=naming is not None and bool(is_known) and any(map(str.isdecimal, name)),
    )

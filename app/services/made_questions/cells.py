"""Questions for cells of tables, by the row and the name of the column; also of rows that name their cells (CSV)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from app.services.made_questions.material import Passage
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from app.services.made_questions.sources import Sources
from core.documents import Span
from core.execution.limits import check_work
from core.passage_context import read_grids

_LONGEST_LABEL, _LONGEST_VALUE = 60, 40
_NUMBERED = re.compile(r"[\d.,()\s%$€£-]*")
_RECORD = re.compile(r"^[^:;|\n]{1,60}: [^;|\n]{1,200}(?:;| \|) [^:;|\n]{1,60}: ", re.MULTILINE)
"""The beginning of a row that names its cells: `Name: Bo; Rate: 290`."""
_FEWEST_RECORDS = 3
"""Rows of the same columns that make a table; fewer are fields of a form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A row: the words that ask for it, and its cells by the names of their columns."""

    passage: Passage
    place: Span
    named: str
    cells: tuple[tuple[str, str], ...]


def may_have_cells(passage: Passage) -> bool:
    """Whether a passage has a bar, or a row that names its cells."""
    return "|" in passage.text or _RECORD.search(passage.text) is not None


def make_cells(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks for a cell by its row and the name of its column. No other row of the document has the same name."""
    of_document: dict[str, list[Passage]] = defaultdict(list)
    for passage in sources.material.passages:
        if may_have_cells(passage):
            of_document[passage.key].append(passage)
    for passages in of_document.values():
        rows = [row for passage in passages for row in (*_read_rows(passage), *_read_records(passage))]
        counts = Counter(row.named for row in rows)
        for row in rows:
            check_work()
            for column, value in row.cells if counts[row.named] == 1 else ():
                place = f"In “{row.passage.title}”, what" if row.passage.title else "What"
                yield MadeQuestion(
                    kind=Kind.CELL,
                    text=f"{place} is the value of {column} {row.named}?",
                    answer=value,
                    quotes=(Quote(passage=row.passage, place=row.place),),
                )


def _read_rows(passage: Passage) -> Iterator[_Row]:
    """Yields the rows of tables with a header, which their label names."""
    for grid in read_grids(passage.text):
        check_work()
        for row in grid.rows if grid.columns else ():
            cells = tuple(
                (column, passage.text[start:end].strip())
                for (start, end), column in zip(row.cells, grid.columns, strict=False)
                if (start, end) != row.named_by
            )
            if not row.names and _is_label(row.label):
                yield _Row(
                    passage=passage,
                    place=Span(start=row.start, end=row.end),
                    named=f"for {row.label}",
                    cells=tuple(cell for cell in cells if _may_ask(*cell) and any(map(str.isdigit, cell[1]))),
                )


def _read_records(passage: Passage) -> Iterator[_Row]:
    """Yields the rows that name their cells. Their first cell names the row; it may be a number, such as an order's."""
    for grid in read_grids(passage.text):
        check_work()
        firsts = Counter(row.names[0] for row in grid.rows if row.names)
        for row in grid.rows:
            if not row.names or not row.names[0] or firsts[row.names[0]] < _FEWEST_RECORDS:
                continue
            values = [passage.text[start:end].strip() for start, end in row.cells]
            if 0 < len(values[0]) <= _LONGEST_LABEL:
                cells = zip(row.names[1:], values[1:], strict=False)
                yield _Row(
                    passage=passage,
                    place=Span(start=row.start, end=row.end),
                    named=f"where {row.names[0]} is {values[0]}",
                    cells=tuple(cell for cell in cells if _may_ask(*cell)),
                )


def _is_label(label: str) -> bool:
    return 0 < len(label) <= _LONGEST_LABEL and not _NUMBERED.fullmatch(label)


def _may_ask(column: str, value: str) -> bool:
    return 0 < len(column) <= _LONGEST_LABEL and 0 < len(value) <= _LONGEST_VALUE and any(map(str.isalnum, value))

"""Paragraphs of a document of a word processor, from any format: how headings, notes and rows of tables are written."""

from collections.abc import Iterable
from dataclasses import dataclass

from indexer.loading.assembly import TextBuilder, join_cells

TITLE, BODY = 0, 10
"""The levels of the title, and of a paragraph that is no heading."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """A paragraph, a cell of a table, or the end of a row; the text of such an end belongs to a last cell, if any.

    `level` is `TITLE`, 1 to 9 for a heading, else `BODY`. A paragraph that `is_in_table` without ending its cell is a
    part of the cell. `notes` are the texts of its footnotes and endnotes.
    """

    text: str
    level: int = BODY
    ends_cell: bool = False
    ends_row: bool = False
    is_in_table: bool = False
    notes: tuple[str, ...] = ()


def add_paragraphs(
    builder: TextBuilder, paragraphs: Iterable[Paragraph], *, tables: bool = True, notes: bool = True
) -> tuple[str, str]:
    """Adds paragraphs, and each row of a table as a line. Notes follow their paragraph, in a table in their cell.

    Returns the first paragraph in the style of titles, and the first heading of level 1; '' for what is not there.
    """
    titles: dict[int, str] = {}
    row = _Row(builder, tables)
    for paragraph in paragraphs:
        own = paragraph.notes if notes else ()
        if paragraph.ends_row or paragraph.ends_cell or paragraph.is_in_table:
            row.add(paragraph, own)
            continue
        row.end_table()
        if paragraph.level < BODY and paragraph.text.strip():
            titles.setdefault(paragraph.level, paragraph.text)
        if TITLE < paragraph.level < BODY:
            builder.add_heading(paragraph.level, paragraph.text)
        else:
            builder.add_paragraph(paragraph.text)
        for note in own:
            builder.add_paragraph(note)
    row.end_table()
    return titles.get(TITLE, ""), titles.get(1, "")


class _Row:
    """The cells of the row that is being read."""

    def __init__(self, builder: TextBuilder, is_written: bool) -> None:
        self._builder = builder
        self._is_written = is_written
        self._cells: list[str] = []
        self._cell: list[str] = []
        self._has_rows = False

    def add(self, paragraph: Paragraph, notes: tuple[str, ...]) -> None:
        self._has_rows = True
        self._cell += [paragraph.text, *notes] if paragraph.text or notes else []
        if paragraph.ends_cell:
            self._end_cell()
        if paragraph.ends_row:
            self._end_row()

    def end_table(self) -> None:
        """Ends the open table, if any, also where its last row has no end."""
        if self._has_rows:
            self._end_row()
            if self._is_written:
                self._builder.add_line()
            self._has_rows = False

    def _end_cell(self) -> None:
        self._cells.append("\n".join(self._cell))
        self._cell = []

    def _end_row(self) -> None:
        if self._cell:
            self._end_cell()
        if self._is_written and (line := join_cells(self._cells)):
            self._builder.add_line(line)
        self._cells = []

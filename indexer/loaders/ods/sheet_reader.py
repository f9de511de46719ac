"""Reads the sheets and rows of the part `content.xml` of a spreadsheet while it is parsed, without keeping them."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import LoadFailed
from indexer.loading.assembly import CELL_SEPARATOR
from indexer.loading.odf import LEFT_OUT, OFFICE, STYLE, TABLE, TEXT, collapse, read_characters, read_count
from indexer.loading.sheets import LONGEST_GAP, MOST_HEADER_ROWS, Cell, SheetRow, Span

_ROW, _SHEET, _SHEETS = f"{TABLE}table-row", f"{TABLE}table", f"{OFFICE}spreadsheet"
_CELL = f"{TABLE}table-cell"
_CELLS = (_CELL, f"{TABLE}covered-table-cell")
_VALUES = tuple(f"{OFFICE}{name}value" for name in ("", "date-", "time-", "boolean-", "string-"))
_OF_ANOTHER_FILE = "ta_extref"
"""The style that LibreOffice gives to copies of sheets of other files, to which formulas refer."""
_MOST_REPEATED = 1024
"""Rows with a value, and cells with a value in a row, that one element stands for. More are left out."""
_ADDED = 200_000
"""Characters that such cells and rows add to a document, or as many as its XML has if these are more."""


class SheetReader:
    """Reads the sheets of a `content.xml` one after the other, and each of their rows as it is parsed.

    The rows of a sheet are read before the next sheet, or not at all.
    """

    def __init__(self, content: bytes, key: str) -> None:
        from lxml import etree

        self._key = key
        self._room = max(_ADDED, len(content))
        self._names: dict[int, int] = {}
        self._depth = 0  # of tables: there may be some in the drawings of a sheet
        self._error = etree.XMLSyntaxError
        self._events = etree.iterparse(
            io.BytesIO(content),
            ("start", "end"),
            tag=(_SHEETS, _SHEET, _ROW, f"{STYLE}style"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            recover=True,
        )

    def sheets(self) -> Iterator[tuple[str, bool]]:
        """Yields the name of each sheet, and whether it is shown. Raises `LoadFailed`."""
        hidden: set[str] = set()
        is_found = False
        for event, element in self._parse():
            is_found = is_found or element.tag == _SHEETS
            if event == "end" and element.tag == f"{STYLE}style":
                if any(one.get(f"{TABLE}display") == "false" for one in element):
                    hidden.add(element.get(f"{STYLE}name"))
            elif event == "end" and element.tag == _ROW:  # of a sheet that is not read
                _drop(element)
            elif event == "start" and element.tag == _SHEET and is_found and self._depth == 1:
                style = element.get(f"{TABLE}style-name")
                if style != _OF_ANOTHER_FILE:
                    yield element.get(f"{TABLE}name", ""), style not in hidden
        if not is_found:
            raise LoadFailed(f"{self._key!r} is no ODS file: its part 'content.xml' has no spreadsheet")

    def rows(self) -> Iterator[SheetRow]:
        """Yields the rows of the sheet at which `sheets` is; a row that an element repeats comes as often."""
        number, depth, named = 1, 0, 0
        self._names = {}
        for event, element in self._parse():
            if element.tag == _SHEET and not self._depth:
                return
            if element.tag != _ROW or (self._depth > 1 and not depth):
                continue
            depth += 1 if event == "start" else -1
            if depth or event == "start":  # within the drawing of a cell
                continue
            stated = read_count(element, f"{TABLE}number-rows-repeated")
            cells, merged = self._read_row(element, number)
            if cells:
                count = self._fit(stated, self._measure(cells))
                if named < MOST_HEADER_ROWS and len(cells) > 1:  # their texts may be written in each row below
                    named += 1
                    for column, cell in cells.items():
                        self._names[column] = self._names.get(column, 0) + len(cell.text)
                yield from (SheetRow(number + n, cells, merged if not n else ()) for n in range(count))
            number += stated
            _drop(element)

    def _parse(self) -> Iterator[tuple[str, Any]]:
        """Yields the events that were not read yet. What is wrong in the XML ends them."""
        try:
            for event in self._events:  # `yield from` would close the parser with this generator
                if event[1].tag == _SHEET:
                    self._depth += 1 if event[0] == "start" else -1
                yield event
        except self._error as error:
            raise LoadFailed(f"{self._key!r} is damaged: its part 'content.xml' is no XML ({error})") from error

    def _read_row(self, row: Any, number: int) -> tuple[dict[int, Cell], list[Span]]:
        cells: dict[int, Cell] = {}
        merged: list[Span] = []
        column = 1
        for element in row:
            if element.tag not in _CELLS:
                continue
            stated = read_count(element, f"{TABLE}number-columns-repeated")
            text = _read_cell(element) if element.tag == _CELL else ""
            if text:
                cell = Cell(text, element.get(f"{OFFICE}value-type", "string") == "string")
                for n in range(self._fit(stated, self._measure({column: cell}, column - 1))):
                    cells[column + n] = cell
                wide, high = (read_count(element, f"{TABLE}number-{kind}-spanned") for kind in ("columns", "rows"))
                if wide > 1 or high > 1:
                    merged.append(Span(column, column + wide - 1, number + high - 1))
            column += stated
        return cells, merged

    def _measure(self, cells: Mapping[int, Cell], last: int = 0) -> int:
        """Returns the characters of cells, ascending by column, as they are written behind the column `last`, at most:
        with the names of their columns and the empty cells between them.
        """
        length = 0
        for column, cell in cells.items():
            empty = min(column - last - 1, LONGEST_GAP)
            length += self._names.get(column, 0) + len(cell.text) + (1 + empty) * len(CELL_SEPARATOR)
            last = column
        return length

    def _fit(self, stated: int, length: int) -> int:
        """Returns how often something of a length can be repeated, and takes the characters that this adds."""
        count = min(stated, _MOST_REPEATED, 1 + self._room // length)
        self._room -= (count - 1) * length
        return count


def _drop(row: Any) -> None:
    """Frees the memory of a row that was read, and of all before it."""
    row.clear()
    while row.getprevious() is not None:
        del row.getparent()[0]


def _read_cell(cell: Any) -> str:
    """Returns what a cell shows, and its value if the file does not say it."""
    lines = [_read_text(one).strip() for one in cell if one.tag == f"{TEXT}p"]
    shown = "\n".join(line for line in lines if line)
    return shown or next((value.strip() for name in _VALUES if (value := cell.get(name))), "")


def _read_text(element: Any) -> str:
    parts = [collapse(element.text)]
    for child in element:
        characters = read_characters(child)
        if characters is not None:
            parts.append(characters)
        elif isinstance(child.tag, str) and child.tag not in LEFT_OUT:
            parts.append(_read_text(child))
        parts.append(collapse(child.tail))
    return "".join(parts)

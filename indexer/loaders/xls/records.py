"""The records of a workbook of Excel ([MS-XLS]) as sheets, read by `xlrd`.

Open this module to see what is read of the binary form; `indexer.loaders.xls` makes a document of it.
"""

import io
import itertools
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from core.errors import LoadFailed
from core.text.titles import one_line
from indexer.loaders import xlsx
from indexer.loading.assembly import TextBuilder
from indexer.loading.sheets import MOST_MERGED, Cell, SheetRow, Span, add_sheet

_UNREAD = frozenset(
    (
        *(0x17, 0x18, 0x23, 0x1AE),  # names, and what they mean in this workbook and in others
        *(0x1C, 0x5D, 0x1B6, 0x1B8, 0x800),  # comments, drawn objects and their texts, links
        *(0x1B0, 0x1B1, 0x293),  # conditional formats, styles
    )
)
"""Records that `xlrd` would read for nothing, and refuse a whole workbook where it does not know one."""
_PASSED_OVER = struct.pack("<H", 0x40)  # whether Excel keeps a copy of the file
_DAMAGED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError),
    *(TypeError, ValueError, struct.error),
)
"""What `xlrd` raises for records that are damaged, besides its own `XLRDError`."""


def add_sheets(builder: TextBuilder, content: bytes, key: str, *, column_names: bool, hidden: bool) -> None:
    """Adds the sheets of a stream of records. Raises `LoadFailed` if it is encrypted or damaged."""
    import xlrd

    try:
        # Merged cells are read only with `formatting_info`. Messages of the library go nowhere.
        with xlrd.open_workbook(
            file_contents=_leave_out(content),
            formatting_info=True,
            on_demand=True,
            ragged_rows=True,
            logfile=io.StringIO(),
        ) as book:
            for number in range(book.nsheets):
                sheet = book.sheet_by_index(number)
                builder.clear_headings()
                if hidden or not sheet.visibility:
                    builder.add_heading(1, sheet.name, line="")
                    add_sheet(builder, _read_rows(book, sheet), named=column_names)
                builder.end_page()
                book.unload_sheet(number)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise LoadFailed(f"{key!r} is encrypted with a password; save it without one") from error
        raise _damaged(key, error) from error
    except _DAMAGED as error:
        raise _damaged(key, error) from error


def _leave_out(content: bytes) -> bytes:
    """Returns the records without the kinds in `_UNREAD`. All keep their places, which the list of sheets states."""
    kept, place = bytearray(content), 0
    while place + 4 <= len(content):
        kind, length = struct.unpack_from("<HH", content, place)
        if kind in _UNREAD:
            kept[place : place + 2] = _PASSED_OVER
        place += 4 + length
    return bytes(kept)


def _damaged(key: str, error: Exception) -> LoadFailed:
    reason = one_line(str(error))[:200] or type(error).__name__
    return LoadFailed(f"{key!r} is damaged: {reason}; it may be cut off")


def _read_rows(book: Any, sheet: Any) -> Iterator[SheetRow]:
    merged = _read_merged(sheet)
    for number in filter(sheet.row_len, range(sheet.nrows)):
        written = ((cell, _write(book, cell)) for cell in sheet.row(number))
        cells = {column: Cell(text, cell.ctype == 1) for column, (cell, text) in enumerate(written, start=1) if text}
        if cells:
            yield SheetRow(number + 1, cells, merged.get(number + 1, ()))


def _read_merged(sheet: Any) -> Mapping[int, Sequence[Span]]:
    """Returns the merged cells of a sheet by the row in which they begin. `xlrd` counts from 0, without the end."""
    spans: dict[int, list[Span]] = {}
    for top, bottom, first, last in itertools.islice(sheet.merged_cells, MOST_MERGED):
        if bottom > top and last > first and (bottom - top > 1 or last - first > 1):
            spans.setdefault(top + 1, []).append(Span(first + 1, last, bottom))
    return spans


def _write(book: Any, cell: Any) -> str:
    """Returns a cell as XLSX has it: a date in ISO 8601, a duration in days and hours, an error by its name."""
    import xlrd

    value = cell.value
    if cell.ctype == xlrd.XL_CELL_DATE:
        shown = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        if "[h" in (shown or "").lower():
            return xlsx.write_value(timedelta(days=value))
        try:
            moment = xlrd.xldate.xldate_as_datetime(value, book.datemode)
        except OverflowError:  # after the year 9999, where Excel shows no date either
            return xlsx.write_value(value)
        return xlsx.write_value(moment.time() if 0 <= value < 1 else moment)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return xlsx.write_value(bool(value))
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(value, ""))
    return xlsx.write_value(value)

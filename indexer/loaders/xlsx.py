"""Workbooks (XLSX): a page a sheet, with the sheet's name as heading; a row is a line with the names of its columns."""

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.archives import check_archive, open_archive
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.properties import read_office_properties
from indexer.loading.sheets import MOST_MERGED, Cell, SheetRow, Span, add_sheet

MEDIA_TYPES = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.ms-excel.sheet.macroenabled.12",
)
SUFFIXES = (".xlsx", ".xlsm")
ISOLATED = True
EXAMPLE = example_of("xlsx")

_MERGED = re.compile(rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,50}ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')


class Config(StrategyConfig):
    """Which sheets are read, and how."""

    column_names: bool = Field(
        default=True, description="Write `name: value` in each row if the first row has names of columns."
    )
    hidden: bool = Field(default=False, description="Also read hidden sheets.")


class XlsxLoader:
    """Loads XLSX. Of formulas, the values that were saved are read. Macros are neither read nor run."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        import openpyxl

        with open_archive(source.content, source.key, "XLSX", "xl/workbook.xml") as archive:
            check_archive(archive, source.key)
            title, metadata = read_office_properties(archive, source.key)
        try:
            workbook = openpyxl.load_workbook(
                io.BytesIO(source.content), read_only=True, data_only=True, keep_links=False
            )
        except (KeyError, ValueError, TypeError) as error:
            raise LoadFailed(f"{source.key!r} is no XLSX file: {one_line(str(error))}") from error
        builder = TextBuilder()
        for sheet in workbook.worksheets:
            builder.clear_headings()
            if self._config.hidden or sheet.sheet_state == "visible":
                builder.add_heading(1, sheet.title, line="")
                add_sheet(builder, _read_rows(sheet, _read_merged(sheet)), named=self._config.column_names)
            builder.end_page()
        return finish_document(source, builder, title, metadata, numbered=True)


def _read_merged(sheet: Any) -> Mapping[int, Sequence[Span]]:
    """Returns the merged cells of a sheet by the row in which they begin. openpyxl does not tell them when it only
    reads.
    """
    from openpyxl.utils import column_index_from_string

    with sheet._get_source() as part:  # noqa: SLF001 - as above
        found = list(itertools.islice(_MERGED.finditer(part.read()), MOST_MERGED))
    spans: dict[int, list[Span]] = {}
    for match in found:
        first, last = (column_index_from_string(match[group].decode()) for group in (1, 3))
        top, bottom = int(match[2]), int(match[4])
        if (last > first or bottom > top) and last >= first and bottom >= top:
            spans.setdefault(top, []).append(Span(first, last, bottom))
    return spans


def _read_rows(sheet: Any, merged: Mapping[int, Sequence[Span]]) -> Iterator[SheetRow]:
    """Yields the rows of a sheet that have cells.

    openpyxl fills rows up to the last column that the sheet states, and up to the last cell of each. Both may be column
    16,384 where two cells have a value, so that a small file has thousands of millions of cells.
    """
    sheet.reset_dimensions()
    sheet._get_row = _keep_values  # noqa: SLF001 - openpyxl has no reading of cells without filling
    for row in sheet.iter_rows(values_only=True):
        if row:
            number = row[0]["row"]
            written = ((cell["column"], write_value(cell["value"]), cell["value"]) for cell in row)
            cells = {column: Cell(text, isinstance(value, str)) for column, text, value in written if text}
            yield SheetRow(number, cells, merged.get(number, ()))


def _keep_values(cells: Iterable[Mapping[str, Any]], *_: object, **__: object) -> list[Mapping[str, Any]]:
    return [cell for cell in cells if cell["value"] is not None]


def write_value(value: object) -> str:
    """Returns the value of a cell as it is written into the text: dates and times in ISO 8601."""
    if isinstance(value, datetime) and value.time() == time.min:
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value).strip()


def build(config: Config, _backends: object) -> Loader:
    return XlsxLoader(config)

"""Workbooks (XLSX): a page a sheet, with the sheet's name as heading; a row is a line with the names of its columns."""

import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.archives import check_archive, open_archive
from indexer.loading.assembly import CELL_SEPARATOR, TextBuilder, finish_document, join_cells
from indexer.loading.examples import example_of
from indexer.loading.properties import read_office_properties

__all__ = ["EXAMPLE", "ISOLATED", "MEDIA_TYPES", "SUFFIXES", "Config", "XlsxLoader", "build"]

MEDIA_TYPES = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.ms-excel.sheet.macroenabled.12",
)
SUFFIXES = (".xlsx", ".xlsm")
ISOLATED = True
EXAMPLE = example_of("xlsx")

_LONGEST_GAP = 50
_LONGEST_NAME = 200

_Row = Sequence[tuple[int, Any]]
"""The values of a row with their columns, which count from 1."""


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
                _add_rows(builder, _read_rows(sheet), named=self._config.column_names)
            builder.end_page()
        return finish_document(source, builder, title, metadata, numbered=True)


def _read_rows(sheet: Any) -> Iterator[_Row]:
    """Yields the rows of a sheet that have cells.

    openpyxl fills rows up to the last column that the sheet states, and up to the last cell of each. Both may be column
    16,384 where two cells have a value, so that a small file has thousands of millions of cells.
    """
    sheet.reset_dimensions()
    sheet._get_row = _keep_values  # noqa: SLF001 - openpyxl has no reading of cells without filling
    for row in sheet.iter_rows(values_only=True):
        if row:
            yield row


def _keep_values(cells: Iterable[Mapping[str, Any]], *_: object, **__: object) -> _Row:
    return [(cell["column"], cell["value"]) for cell in cells if cell["value"] is not None]


def _add_rows(builder: TextBuilder, rows: Iterable[_Row], *, named: bool) -> None:
    """Adds the rows that have a value. The first row of several texts has the names of the columns.

    Rows of one cell before it are titles of the table.
    """
    names: dict[int, str] | None = None if named else {}
    for row in rows:
        values = [(column, written) for column, value in row if (written := _write(value))]
        if not values:
            continue
        if names is None and len(values) > 1:
            names = {column: one_line(value) for column, value in values} if _are_names(row) else {}
            line = join_cells(_fill(values))
        else:
            line = _name_values(names or {}, values)
        builder.add_line(line)


def _are_names(row: _Row) -> bool:
    return all(isinstance(value, str) and len(value) <= _LONGEST_NAME for _, value in row)


def _name_values(names: Mapping[int, str], values: Sequence[tuple[int, str]]) -> str:
    """Returns a row as `name: value` for each value whose column has a name; without names, all its cells."""
    if not names:
        return join_cells(_fill(values))
    cells = [(names.get(column, ""), one_line(value)) for column, value in values]
    return CELL_SEPARATOR.join(f"{name}: {value}" if name else value for name, value in cells)


def _fill(values: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yields the values with the empty cells between them, of which `_LONGEST_GAP` at most stand together."""
    last = 0
    for column, value in values:
        yield from itertools.repeat("", min(column - last - 1, _LONGEST_GAP))
        yield value
        last = column


def _write(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time.min:
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value).strip()


def build(config: Config, _backends: object) -> Loader:
    return XlsxLoader(config)

"""Workbooks (XLSX): a page a sheet, with the sheet's name as heading; a row is a line with the names of its columns."""

import io
from collections.abc import Iterable, Sequence
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
                _add_rows(builder, sheet.iter_rows(values_only=True), named=self._config.column_names)
            builder.end_page()
        return finish_document(source, builder, title, metadata, numbered=True)


def _add_rows(builder: TextBuilder, rows: Iterable[Sequence[Any]], *, named: bool) -> None:
    """Adds the rows that have a value. The first row of several texts has the names of the columns.

    Rows of one cell before it are titles of the table.
    """
    names: list[str] | None = None if named else []
    for row in rows:
        values = [_write(value) for value in row]
        if not any(values):
            continue
        if names is None and sum(map(bool, values)) > 1:
            names = [one_line(value) for value in values] if _are_names(row) else []
            line = join_cells(values)
        else:
            line = _name_values(names or [], values)
        builder.add_line(line)


def _are_names(row: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in row)


def _name_values(names: Sequence[str], values: Sequence[str]) -> str:
    """Returns a row as `name: value` for each value whose column has a name; without names, all its cells."""
    if not names:
        return join_cells(values)
    padded = [*names, *("" for _ in values)]
    cells = [(name, one_line(value)) for name, value in zip(padded, values, strict=False) if value.strip()]
    return CELL_SEPARATOR.join(f"{name}: {value}" if name else value for name, value in cells)


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

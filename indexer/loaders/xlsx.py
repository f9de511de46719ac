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

_Ranges = Mapping[int, Sequence[tuple[int, int, int]]]
"""The merged cells, by the row in which they begin: their first and last columns, and their last rows."""

_MERGED = re.compile(rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,50}ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MOST_MERGED = 10_000
"""Merged cells of a sheet that are read. A merged cell of more than 1,000 places is left as it is."""
_LARGEST_MERGED = 1000
_MOST_REPEATED = 100_000
"""Characters that merged cells add to a sheet by being repeated."""
_MOST_HEADER_ROWS = 3
_YEARS = range(1900, 2101)


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
                rows = _repeat_merged(_read_rows(sheet), _read_merged(sheet))
                _add_rows(builder, rows, named=self._config.column_names)
            builder.end_page()
        return finish_document(source, builder, title, metadata, numbered=True)


def _read_merged(sheet: Any) -> _Ranges:
    """Returns the merged cells of a sheet, which openpyxl does not tell when it only reads."""
    from openpyxl.utils import column_index_from_string

    with sheet._get_source() as part:  # noqa: SLF001 - as above
        found = list(itertools.islice(_MERGED.finditer(part.read()), _MOST_MERGED))
    ranges: dict[int, list[tuple[int, int, int]]] = {}
    for match in found:
        first, last = (column_index_from_string(match[group].decode()) for group in (1, 3))
        top, bottom = int(match[2]), int(match[4])
        if 1 < (last - first + 1) * (bottom - top + 1) <= _LARGEST_MERGED:
            ranges.setdefault(top, []).append((first, last, bottom))
    return ranges


def _repeat_merged(rows: Iterable[tuple[int, _Row]], ranges: _Ranges) -> Iterator[tuple[_Row, bool]]:
    """Yields rows in which a merged cell has its value in each place that it covers, and whether one spans columns.

    A row of one merged cell stays a row of one cell.
    """
    covered: dict[int, tuple[int, Any]] = {}
    repeated = 0
    for number, row in rows:
        covered = {column: (last, value) for column, (last, value) in covered.items() if last >= number}
        values = {column: value for column, (_, value) in covered.items()} | dict(row)
        is_single, spans = len(values) == 1, False
        for first, last, bottom in ranges.get(number, ()):
            if first not in values or (is_single and bottom == number):
                continue
            value = values[first]
            repeated += (last - first + 1) * (bottom - number + 1) * len(str(value))
            if repeated > _MOST_REPEATED:
                continue
            spans = spans or last > first
            for column in range(first, last + 1):
                values[column] = value
                if bottom > number:
                    covered[column] = (bottom, value)
        yield sorted(values.items()), spans


def _read_rows(sheet: Any) -> Iterator[tuple[int, _Row]]:
    """Yields the rows of a sheet that have cells, with their numbers.

    openpyxl fills rows up to the last column that the sheet states, and up to the last cell of each. Both may be column
    16,384 where two cells have a value, so that a small file has thousands of millions of cells.
    """
    sheet.reset_dimensions()
    sheet._get_row = _keep_values  # noqa: SLF001 - openpyxl has no reading of cells without filling
    for row in sheet.iter_rows(values_only=True):
        if row:
            yield row[0]["row"], [(cell["column"], cell["value"]) for cell in row]


def _keep_values(cells: Iterable[Mapping[str, Any]], *_: object, **__: object) -> list[Mapping[str, Any]]:
    return [cell for cell in cells if cell["value"] is not None]


def _add_rows(builder: TextBuilder, rows: Iterable[tuple[_Row, bool]], *, named: bool) -> None:
    """Adds the rows that have a value. The first row of several texts has the names of the columns.

    Rows of one cell before it are titles of the table. A row below a name that spans columns has names, too.
    """
    names: dict[int, str] | None = None if named else {}
    wanted = 0  # rows of names that may follow
    for row, spans in rows:
        values = [(column, written) for column, value in row if (written := _write(value))]
        if not values:
            continue
        if names is None and len(values) > 1:
            names = {column: one_line(value) for column, value in values} if _are_names(row) else {}
            wanted = _MOST_HEADER_ROWS - 1 if names and spans else 0
        elif wanted and names and len(values) > 1 and _are_names(row, may_be_years=True):
            names |= {column: _join_names(names.get(column, ""), one_line(value)) for column, value in values}
            wanted = wanted - 1 if spans else 0
        else:
            wanted = 0
            builder.add_line(_name_values(names or {}, values))
            continue
        builder.add_line(join_cells(_fill(values)))


def _are_names(row: _Row, *, may_be_years: bool = False) -> bool:
    return all(
        (isinstance(value, str) and len(value) <= _LONGEST_NAME)
        or (may_be_years and isinstance(value, int) and value in _YEARS)
        for _, value in row
    )


def _join_names(above: str, name: str) -> str:
    return name if above in ("", name) else f"{above} {name}"


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

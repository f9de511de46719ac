"""Tables (CSV, TSV): each row as a line of its columns with their names; a block holds several whole rows."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/csv", "text/tab-separated-values")
SUFFIXES = (".csv", ".tsv")
EXAMPLE = "name;born\nAda;1815\nКонстантин;1857\n".encode()

_HEADER = {"yes": True, "no": False, "auto": None}


class Config(StrategyConfig):
    """How rows are read and put together."""

    delimiter: str = Field(default="", max_length=1, description="One character; empty: found out from the first rows.")
    header: Literal["auto", "yes", "no"] = Field(default="auto", description="Whether the first row names the columns.")
    heading: str = Field(default="", description="The column whose value is the heading of a row.")
    block_characters: int = Field(
        default=600,
        ge=0,
        le=1_000_000,
        description="Whole rows of a block together, at most; 0: each row is a block of its own.",
    )


_MOST, _ANY_LENGTH = 20, 16_000_000
"""How many times longer than a file its text may be, and how many characters it may always have."""


class TableLoader:
    """The title is the sender's, else the name of the file. Cells without a text are left out."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        config = self._config
        decoded = decode_source(source)
        delimiter = config.delimiter or _find_delimiter(decoded.text)
        table = read_rows(decoded.text, delimiter, _HEADER[config.header], source.key)
        builder = TextBuilder()
        heading, size = "", 0
        most = max(_ANY_LENGTH, _MOST * len(source.content))
        for row in table.rows:
            cells = [(_name(table.columns, n), one_line(cell)) for n, cell in enumerate(row) if cell.strip()]
            line = "; ".join(f"{name}: {cell}" for name, cell in cells)
            own = next((cell for name, cell in cells if name == config.heading), "") if config.heading else ""
            if own != heading:
                builder.clear_headings()
                builder.add_heading(1, own)
                heading, size = own, 0
            elif size and size + len(line) > config.block_characters:
                builder.end_block()
                size = 0
            builder.add_line(line)
            size += len(line) + 1
            if builder.length > most:
                raise LoadFailed(
                    f"{source.key!r} is refused: its rows, with the names of their columns, have more than {_MOST} "
                    "times the size of the file; shorten the names in its first row"
                )
        builder.end_page()
        return finish_document(source, builder, "", decoded.metadata, numbered=False)


def _name(columns: tuple[str, ...], number: int) -> str:
    return columns[number] if number < len(columns) and columns[number] else f"column {number + 1}"


def build(config: Config, _backends: object) -> Loader:
    return TableLoader(config)


_DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 100
_LOOKED_AT_CHARACTERS = 100_000
_LARGEST_CELL = 64 * 1024 * 1024
_LONGEST_NAME = 200
"""Characters of the name of a column, which stands before each of its cells."""

_NUMBER = re.compile(r"[-+]?[\d.,  ]*\d%?|\d{4}-\d\d-\d\d.*")
_QUOTED = re.compile(r'(?P<spaces> *+)"(?:[^"]|"")*+(?P<close>" *+)?+')
"""A cell in quotes, of which the second one may be missing."""


@dataclass(frozen=True, slots=True)
class Table:
    """The names of columns, and the rows below."""

    columns: tuple[str, ...]
    rows: Iterator[list[str]]


def _find_delimiter(text: str) -> str:
    """Returns the delimiter that cuts most of the first rows into the same number of columns, at least two."""
    head = text[:_LOOKED_AT_CHARACTERS]
    scores = {delimiter: _score(head, delimiter) for delimiter in _DELIMITERS}
    return max(_DELIMITERS, key=lambda delimiter: scores[delimiter])


def _score(head: str, delimiter: str) -> tuple[float, int]:
    try:
        rows = [row for row in islice(_read(head, delimiter, "the head"), _LOOKED_AT) if row]
    except LoadFailed:  # a cell is larger than the reader's limit
        return 0.0, 0
    if not rows:
        return 0.0, 0
    columns, alike = Counter(map(len, rows)).most_common(1)[0]
    return (alike / len(rows), columns) if columns > 1 else (0.0, 1)


def is_header(row: Sequence[str]) -> bool:
    """Whether a first row looks like names of columns: no cell is empty, repeated, a number or a date."""
    names = [cell.strip() for cell in row]
    if any(len(name) > _LONGEST_NAME for name in names):
        return False
    return all(names) and len(set(names)) == len(names) and not any(_NUMBER.fullmatch(name) for name in names)


def _names_values(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether only the column of labels has no name, as R writes it: the row below has a label and numbers."""
    is_labelled = bool(second[0].strip()) and any(_NUMBER.fullmatch(cell.strip()) for cell in second[1:])
    return not first[0].strip() and len(first) == len(second) > 1 and is_header(first[1:]) and is_labelled


def read_rows(text: str, delimiter: str, header: bool | None, key: str) -> Table:
    """Reads a table; `header` says whether the first row names the columns (None: if it looks like that).

    Blank rows are left out. Raises `LoadFailed` for a row that is damaged, while rows are read.
    """
    rows = (row for row in _read(text, delimiter, key) if any(cell.strip() for cell in row))
    first = next(rows, None)
    if first is None:
        return Table((), iter(()))
    second = next(rows, None)
    if header or (header is None and second is not None and (is_header(first) or _names_values(first, second))):
        return Table(tuple(one_line(cell)[:_LONGEST_NAME] for cell in first), chain([second] if second else (), rows))
    return Table((), chain([first], [second] if second else (), rows))


def _read(text: str, delimiter: str, key: str) -> Iterator[list[str]]:
    csv.field_size_limit(_LARGEST_CELL)  # of the process; the default is 128 kB
    begins = True

    def list_lines() -> Iterator[str]:
        nonlocal begins
        for line in io.StringIO(text, newline=""):
            may_have_signs = begins and ' "' in line and delimiter != " "
            begins = False
            yield _quote_signs(line, delimiter) if may_have_signs else line

    # Spaces before a cell align columns; without `skipinitialspace`, quotes behind them would be part of the cell.
    reader = csv.reader(list_lines(), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            begins = True  # The reader reads no line ahead, so the next one begins a row.
            yield row
    except csv.Error as error:
        raise LoadFailed(f"{key!r} is no table: {error} in line {reader.line_num}; check its quotes") from error


def _quote_signs(line: str, delimiter: str) -> str:
    """Returns the first line of a row; a cell whose quote stands behind spaces and does not close the cell on the line
    (`pipe, "6`) is quoted itself. Such a quote means inches, and would take all rows below into its cell.
    """
    cells, at, last = [], 0, len(line.rstrip("\r\n"))
    while at <= last:
        quoted = _QUOTED.match(line, at)
        after = quoted.end() if quoted else at
        is_whole = quoted is None or (quoted["close"] and line[after : after + 1] in ("", "\r", "\n", delimiter))
        is_sign = quoted is not None and bool(quoted["spaces"]) and not is_whole
        found = line.find(delimiter, at if is_sign else after)
        end = found if found >= 0 else last
        cell = line[at:end]
        cells.append('"' + cell.strip().replace('"', '""') + '"' if is_sign else cell)
        at = end + 1
    return delimiter.join(cells) + line[last:]

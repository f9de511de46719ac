"""Tables (CSV, TSV): each row as a line of its columns with their names; a block holds several whole rows."""

from typing import Literal

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.texts.tables import find_delimiter, read_rows
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
        delimiter = config.delimiter or find_delimiter(decoded.text)
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

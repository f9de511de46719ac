"""Reading of tables of passages, such as DPR's Wikipedia (`psgs_w100.tsv`), one document for each line."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from core.errors import InvalidInput
from indexer.submission.json_lines import MAX_LINE_BYTES, Embed, LocatedSubmission, Rejection, number_lines
from indexer.submission.submissions import submission_from_json

_SUFFIXES = (".tsv", ".tsv.gz")
_COLUMNS = frozenset(("id", "text", "title"))
_LONGEST_HEADER = 100
_SHORTEST_PASSAGE = 100
_FIRST_LINE = "the first line names the columns, with tabs between them: id, text, title"
_MARK = b"\xef\xbb\xbf"


def is_passage_table(path: Path) -> bool:
    """Returns whether a file is a table of passages: `.tsv` or `.tsv.gz`, with the columns `id`, `text` and `title`.

    Raises `OSError` if it cannot be read. A file that is no gzip file is no table.
    """
    if not path.name.lower().endswith(_SUFFIXES):
        return False
    try:
        with _open(path) as file:
            return _read_header(file) is not None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return False


def check_is_no_table(path: Path) -> None:
    """Raises `InvalidInput` for a file that is no table of passages, but seems to be meant as a table of passages.

    Such a file is any `.tsv.gz`, and a `.tsv` with three columns whose first line begins with a number and a passage.
    """
    if not path.name.lower().endswith(_SUFFIXES):
        return
    is_compressed = path.suffix.lower() == ".gz"
    try:
        with _open(path) as file:
            cells = file.readline(MAX_LINE_BYTES).split(b"\t")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(f"it is no gzip file ({error}); name a table that is not compressed .tsv") from error
    if is_compressed:
        raise InvalidInput(f"a .tsv.gz file is read as a table of passages, and this one is none: {_FIRST_LINE}")
    if len(cells) == len(_COLUMNS) and cells[0].isdigit() and len(cells[1]) >= _SHORTEST_PASSAGE:
        raise InvalidInput(
            f"it seems to be a table of passages without its first line: {_FIRST_LINE}; to read all of it as one "
            "document, name it .txt"
        )


def count_passages(path: Path) -> int:
    """Returns the number of lines of a table that are not blank, without the first. Raises `OSError`."""
    with _open(path) as file:
        return max(0, sum(1 for _ in number_lines(file)) - 1)


def read_table(path: Path, shown: str, *, embed: Embed | None = None) -> Iterator[LocatedSubmission | Rejection]:
    """Yields the documents of a table of passages, which is called `shown` in messages. The key is the `id`.

    A passage is one line. A field may stand in quotation marks, with quotation marks within it doubled. The document is
    the same as from a JSON line with these fields. `embed` adds its embedding to each document. Raises `OSError` if the
    file cannot be read.
    """
    number = 1
    try:
        with _open(path) as file:
            columns = _read_header(file) or []
            for row, (number, _, line) in enumerate(number_lines(file, first=2)):
                yield _read_line(line, columns, f"{shown} line {number}", row, embed)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        reason = f"the compressed file is damaged or cut off after this line ({error}); fetch it again"
        yield Rejection(source=f"{shown} line {number}", reason=reason, hides=True)
        return
    if number == 1:
        yield Rejection(source=shown, reason="it has no line after the one that names the columns")


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _read_header(file: BinaryIO) -> list[str] | None:
    line = file.readline(_LONGEST_HEADER).removeprefix(_MARK)
    columns = [cell.strip().strip('"').lower() for cell in line.decode("ascii", "replace").split("\t")]
    return columns if len(columns) == len(_COLUMNS) and set(columns) == _COLUMNS else None


def _read_line(
    line: bytes, columns: list[str], source: str, row: int, embed: Embed | None
) -> LocatedSubmission | Rejection:
    key = None
    try:
        cells = _split(line)
        if len(cells) != len(columns):
            raise InvalidInput(  # noqa: TRY301 - as below
                f"it has {len(cells)} of the {len(columns)} columns {', '.join(columns)}; put a tab between them, and "
                "write each passage in one line"
            )
        fields = dict(zip(columns, cells, strict=True))
        key = fields["id"]
        if not key:
            raise InvalidInput("it has no id")  # noqa: TRY301 - as below
        document = fields if embed is None else embed(fields, row)
        return LocatedSubmission(submission=submission_from_json(document), source=source)
    except InvalidInput as error:
        return Rejection(source=source, reason=str(error), key=key)


def _split(line: bytes) -> list[str]:
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"the line is longer than {MAX_LINE_BYTES:,} bytes; give such a document a file of its own")
    csv.field_size_limit(MAX_LINE_BYTES)  # of the process; the default is 128 kB
    try:
        (cells,) = csv.reader([line.decode().rstrip("\r\n")], delimiter="\t", strict=True)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: byte {error.start} cannot be decoded; save the file as UTF-8") from error
    except csv.Error as error:
        raise InvalidInput(
            f"its quotation marks are wrong ({error}); write a passage in one line, and double the "
            "quotation marks in a quoted field"
        ) from error
    return cells

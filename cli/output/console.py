"""Prints results to stdout, progress and errors to stderr, and JSON as exactly one object.

Large files of commands come last: how they are written, the progress of reading or writing them, and what a restore has
written.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from core.errors import InvalidInput
from core.execution.files import Draft

if TYPE_CHECKING:
    from app.archive import RestoreResult


_UNBOUNDED = 100_000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters, and characters that change the direction of writing and so what a line seems to say."""


def print_json(value: object) -> None:
    """Prints one JSON object to stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_to_jsonable)
    # Below U+0020 only the line breaks of the layout are left: JSON escapes all others.
    _write(sys.stdout, _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_result(text: str = "") -> None:
    """Prints a line of a result to stdout."""
    _write(sys.stdout, plain(text))


def print_marked(text: str, marks: Iterable[tuple[int, int]], *, width: int, indent: int, style: str = "") -> None:
    """Prints a text to stdout, wrapped; where stdout is a terminal, in a style and with the marked ranges in bold."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    shown = Text(plain(text), style)
    for start, end in marks:
        shown.stylize("bold", start, end)
    to = StringIO()
    console = Console(file=to, width=width, force_terminal=sys.stdout.isatty(), highlight=False)
    console.print(Padding(shown, (0, 0, 0, indent), expand=False))
    _write(sys.stdout, "\n".join(line.rstrip() for line in to.getvalue().rstrip("\n").split("\n")))


def print_styled(*parts: tuple[str, str]) -> None:
    """Prints parts of a text, each with a style of rich, as one line to stdout. Only a terminal shows the styles."""
    text = "".join(plain(part) for part, _ in parts)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        to = StringIO()
        console = Console(file=to, width=_UNBOUNDED, force_terminal=True, highlight=False)
        console.print(Text.assemble(*((plain(part), style) for part, style in parts)), end="")
        text = to.getvalue()
    _write(sys.stdout, text)


def print_status(text: str) -> None:
    """Prints a line about progress to stderr."""
    _write(sys.stderr, plain(text))
    sys.stderr.flush()


def counted(number: int, what: str) -> str:
    """Returns a number with its noun, such as `1 passage` or `2,000 passages`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def plain(text: str) -> str:
    """Returns the text without control characters, so that a document's text cannot control the terminal.

    Line ends of other systems are line ends.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints rows under their column names, without a limit of the width."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(plain(_format_cell(value))) for value in row))
    if not shown.row_count:
        print_result("(none)")
        return
    # Output that another program reads is not folded.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(shown)


def fields(values: Mapping[str, object]) -> None:
    """Prints names with their values, one a line."""
    width = max(map(len, values))
    for name, value in values.items():
        print_result(f"{name:<{width}}  {_format_cell(value)}")


def _write(stream: TextIO, text: str) -> None:
    """Writes a line. Characters that the stream's encoding lacks (in a file name, for example) become '?'."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value)


def _to_jsonable(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def replace_file(path: Path, fill: Callable[[BinaryIO], int]) -> int:
    """Writes a draft beside the file, replaces the file when the draft is complete, and returns what `fill` returns.

    A device or a pipe is written to as it is. Raises `InvalidInput` if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                return fill(file)
        with Draft(path) as draft:
            written = fill(draft.file)
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    return written


_EVERY_SECONDS = 3.0


class RowProgress:
    """Prints nothing in the first seconds, so that short tasks stay silent."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def report(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            print_status(f"{what} {done:,}" + ("" if total is None else f" of {total:,}"))


def show_restored(result: "RestoreResult") -> None:
    there = f", {result.unchanged:,} unchanged" if result.unchanged else ""
    print_result(
        f"corpus {result.name}: {counted(result.documents, 'document')}, {counted(result.chunks, 'passage')}{there}"
    )
    if result.missing_originals:
        print_status(
            f"corpus {result.name}: {result.missing_originals:,} originals are not in the file; searches do not need "
            "them"
        )
    for note in result.notes:
        print_status(f"corpus {result.name}: {note}")

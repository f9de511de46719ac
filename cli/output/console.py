"""Where output goes: results to stdout, progress and complaints to stderr, JSON as exactly one object."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any, TextIO

__all__ = ["emit", "fields", "plain", "say", "show", "table"]

_UNBOUNDED = 100_000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Also what turns the direction of writing around, and with it what a line seems to say."""


def emit(value: object) -> None:
    """Print one JSON object to stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_jsonable)
    # below U+0020 there is the line break of the layout alone: JSON has escaped all others
    _write(sys.stdout, _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def show(text: str = "") -> None:
    """Print a line of a result to stdout."""
    _write(sys.stdout, plain(text))


def say(text: str) -> None:
    """Print a line about what is going on to stderr."""
    _write(sys.stderr, plain(text))
    sys.stderr.flush()


def plain(text: str) -> str:
    """The text without control characters: what a document says must not steer the terminal."""
    return _CONTROL.sub("\ufffd", text)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their columns, as wide as they are."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(plain(_cell(value))) for value in row))
    if not shown.row_count:
        show("(none)")
        return
    # What a program reads is not folded to any width.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(shown)


def fields(values: Mapping[str, object]) -> None:
    """Print names with their values, one a line."""
    width = max(map(len, values))
    for name, value in values.items():
        show(f"{name:<{width}}  {_cell(value)}")


def _write(stream: TextIO, text: str) -> None:
    """A line; what the stream's encoding does not have (a file name that is no text, say) is shown as '?'."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value)


def _jsonable(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")

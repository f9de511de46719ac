"""Reading of JSON lines; errors name file and line."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, NotFound
from core.text.characters import NO_CHARACTER, find_half

TO_UTF8 = "convert the file, as with iconv -f latin1 -t utf-8"
"""What a message says of bytes that are no UTF-8."""

_MARK = b"\xef\xbb\xbf"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""An escape of a surrogate, or its bytes, which `json` decodes. Only then are the values searched, which takes long."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line's object (or a part of it), and its place for messages."""

    place: str
    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Returns a string that is not blank; raises `InvalidInput` otherwise."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(f"{self.place}: `{name}` must be a text that is not empty, not {value!r:.80}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns a list of strings, empty if the field is missing; raises `InvalidInput` otherwise."""
        value = self.fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidInput(f"{self.place}: `{name}` must be a list of strings, not {value!r:.80}")
        return tuple(value)

    def objects(self, name: str) -> tuple["Row", ...]:
        """Returns a list of objects, empty if the field is missing; raises `InvalidInput` otherwise."""
        value = self.fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise InvalidInput(f"{self.place}: `{name}` must be a list of objects, not {value!r:.80}")
        return tuple(Row(place=f"{self.place}, `{name}` {number}", fields=item) for number, item in enumerate(value))


def read_rows(path: Path, *, whole_lines: bool = False, remedy: str = "") -> Iterator[Row]:
    """Yields the rows of a file. Blank lines are skipped, and with `whole_lines` also a last line without a line break.

    Raises `NotFound` or `InvalidInput`; `remedy` is what to do about a line that is no JSON object.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(_MARK) if number == 1 else raw
                if line.strip() and (line.endswith(b"\n") or not whole_lines):
                    place = f"{path} line {number}"
                    yield Row(place=place, fields=_object(line, place, f"; {remedy}" if remedy else ""))
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}; a dataset needs it") from error


def _object(line: bytes, place: str, remedy: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{place} is not UTF-8; {TO_UTF8}") from error
    except (ValueError, RecursionError) as error:  # not JSON, a number with thousands of digits, or nested too deeply
        raise InvalidInput(f"{place}: not valid JSON: {error}{remedy}") from error
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place}: a line must be a JSON object{remedy}")
    check_characters(line, value, place)
    return value


def check_characters(content: bytes, value: object, place: str) -> None:
    """Raises `InvalidInput` if the JSON value of these bytes holds half of a surrogate pair, which no file can hold."""
    if _SURROGATE.search(content) and (half := find_half(value)) is not None:
        raise InvalidInput(f"{place}: `{half}` {NO_CHARACTER.partition(';')[0]}; correct or delete it")

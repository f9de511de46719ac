"""Reading of published files; errors name file, place and what is missing."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, NotFound
from evaluation.datasets.json_lines import TO_UTF8, Row, check_characters

__all__ = ["get_list", "iter_objects", "keep_metadata", "read_id", "read_lines", "read_list", "read_object"]

_MARK = b"\xef\xbb\xbf"


def read_list(path: Path) -> Iterator[Row]:
    """Yields the objects of a file that is one JSON list."""
    value = _load(path)
    if not isinstance(value, list):
        raise InvalidInput(f"{path} is not a JSON list of questions; is it of another form?")
    for number, item in enumerate(value):
        yield Row(place=f"{path} item {number}", fields=_check_object(item, f"{path} item {number}"))


def read_object(path: Path) -> Mapping[str, Any]:
    """Returns the object of a file that is one JSON object."""
    return _check_object(_load(path), str(path))


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of each line that is not blank, without its line break and without a byte order
    mark.

    Raises `NotFound` or `InvalidInput`.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                place = f"{path} line {number}"
                line = _decode(raw.removeprefix(_MARK) if number == 1 else raw, place)
                if line.strip():
                    yield place, line
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error


def read_id(row: Row, *names: str) -> str:
    """Returns the first of these fields that the row has, a text or a whole number; raises `InvalidInput`."""
    value = next((row.fields[name] for name in names if name in row.fields), None)
    if type(value) is int:  # bool is a subclass of int
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{row.place}: `{names[0]}` must be a text or a whole number, not {_show(value)}")
    return value


def get_list(row: Row, name: str) -> list[Any]:
    """Returns a list field of the row; raises `InvalidInput` if it is missing or not a list."""
    value = row.fields.get(name)
    if not isinstance(value, list):
        raise InvalidInput(f"{row.place}: `{name}` must be a list, not {_show(value)}")
    return value


def iter_objects(row: Row, name: str) -> Iterator[Row]:
    """Yields the objects of a list field of the row."""
    for number, item in enumerate(get_list(row, name)):
        place = f"{row.place}, `{name}` {number}"
        yield Row(place=place, fields=_check_object(item, place))


def keep_metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `{"metadata": …}` with the fields by which questions can be selected; {} if there are none.

    These are texts, numbers, truth values, and lists of them. Objects, such as passages beside a question, are left
    out.
    """
    kept = {name: value for name, value in fields.items() if _is_comparable(value)}
    return {"metadata": kept} if kept else {}


def _is_comparable(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_scalar, value))
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    """Returns whether a value is a text, a truth value or a number; `NaN` and `Infinity`, which Python writes, are no
    JSON, and nothing is equal to them.
    """
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _decode(raw: bytes, place: str) -> str:
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{place} is not UTF-8; {TO_UTF8}") from error


def _load(path: Path) -> Any:
    try:
        content = path.read_bytes()
        value = json.loads(content)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8; {TO_UTF8}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not valid JSON: {error}") from error
    check_characters(content, value, str(path))
    return value


def _check_object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place} must be a JSON object, not {_show(value)}")
    return value


def _show(value: Any) -> str:
    return "missing" if value is None else repr(value)[:80]

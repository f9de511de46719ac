"""Reading of published JSON files; errors name file, place and what is missing."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, NotFound
from evaluation.datasets.json_lines import Row

__all__ = ["get_list", "iter_objects", "read_list", "read_object"]


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


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not valid JSON: {error}") from error


def _check_object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place} must be a JSON object, not {_show(value)}")
    return value


def _show(value: Any) -> str:
    return "missing" if value is None else repr(value)[:80]

"""Values of `hopweave.wire` on the server's side: filled from values of `core`, written as JSON, and read from it."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

T = TypeVar("T")

_Convert = Callable[[Any], Any]


def fill(of: type[T], source: object, **given: Any) -> T:
    """Returns a value of `of` with the fields that are `given`, and the others from attributes of `source`.

    Values inside `source` are converted as the fields' types say: to values of the wire, tuples, floats and strings.
    """
    values = {
        name: given.pop(name) if name in given else convert(getattr(source, name))
        for name, convert in _converters(cast("Hashable", of))
    }
    return of(**values, **given)


def fill_all(of: type[T], sources: Iterable[object]) -> tuple[T, ...]:
    return tuple(fill(of, source) for source in sources)


@cache
def _converters(of: Hashable) -> list[tuple[str, _Convert]]:
    kind = cast("type[Any]", of)
    hints = get_type_hints(kind)
    return [(field.name, _converter(hints[field.name])) for field in fields(kind)]


def _converter(hint: Any) -> _Convert:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return lambda value: fill(cast("type[Any]", hint), value)
    if origin is UnionType:
        inner = _converter(arguments[0])
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        item = _converter(arguments[0])
        return lambda values: tuple(map(item, values))
    if origin is Mapping:
        item = _converter(arguments[1])
        return lambda values: {key: item(value) for key, value in values.items()}
    if origin is Literal:
        return str
    return float if hint is float else lambda value: value


def dump_json(value: object, **options: Any) -> str:
    """Returns a value, or a model, as JSON. `options` are passed to pydantic's `dump_json`."""
    return _adapter(cast("Hashable", type(value))).dump_json(value, **options).decode()


def dump(value: object) -> dict[str, Any]:
    """Returns what the JSON of a value says."""
    written: dict[str, Any] = _adapter(cast("Hashable", type(value))).dump_python(value, mode="json")
    return written


def load(of: type[T], written: object) -> T:
    """Returns the value that JSON says. Raises pydantic's `ValidationError`."""
    value: T = _adapter(cast("Hashable", of)).validate_python(written)
    return value


@cache
def _adapter(of: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", of))

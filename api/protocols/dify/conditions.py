"""Dify's conditions on metadata as a filter of documents."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import ConfigDict, Field

from api.schemas.base import LenientIn, Text
from core.errors import InvalidFilter
from core.filters import MAX_TERMS

__all__ = ["ConditionIn", "ConditionsIn", "make_filter"]

_Value = Text | float | bool | list[Text | float | bool] | None

_OPERATORS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "contains": lambda value: {"$contains": value},
    "start with": lambda value: {"$prefix": value},
    "is": lambda value: {"$eq": value},
    "is not": lambda value: {"$ne": value},
    "in": lambda value: {"$in": _as_list(value)},
    "not in": lambda value: {"$nin": _as_list(value)},
    "empty": lambda _: {"$exists": False},
    "not empty": lambda _: {"$exists": True},
    "=": lambda value: {"$eq": _as_number(value)},
    "≠": lambda value: {"$ne": _as_number(value)},
    ">": lambda value: {"$gt": _as_number(value)},
    "<": lambda value: {"$lt": _as_number(value)},
    "≥": lambda value: {"$gte": _as_number(value)},
    "≤": lambda value: {"$lte": _as_number(value)},
    "before": lambda value: {"$lt": value},
    "after": lambda value: {"$gt": value},
}
_NAMES = {"title": "$title", "key": "$key", "document_name": "$title"}
"""Fields of documents that are no metadata here."""


_FIELD: dict[str, Any] = {"type": "string", "pattern": "^([^$]|$)"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_DIGITS: dict[str, Any] = {"type": "string", "pattern": r"^[+-]?[0-9]+(?:\.[0-9]+)?$"}
_VALUES: dict[tuple[str, ...], dict[str, Any]] = {
    ("contains", "not contains", "is", "is not"): _SCALAR,
    ("start with",): {"type": "string"},
    ("in", "not in"): {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
    ("empty", "not empty"): {},
    ("=", "≠"): {"anyOf": [{"type": ["number", "boolean", "null"]}, _DIGITS]},
    (">", "<", "≥", "≤"): {"anyOf": [{"type": "number"}, _DIGITS]},
    ("before", "after"): {"type": ["string", "number"]},
}
_NEED_VALUE = {"start with", ">", "<", "≥", "≤", "before", "after"}
_DESCRIBED: dict[str, Any] = {
    "anyOf": [
        {
            "required": ["value"] if _NEED_VALUE.issuperset(operators) else [],
            "properties": {
                "comparison_operator": {"enum": list(operators)},
                "name": {"anyOf": [_FIELD, {"type": "array", "items": _FIELD, "minItems": 1}]},
                "value": value,
            },
        }
        for operators, value in _VALUES.items()
    ]
}
"""What each operator compares with. `core.filters` checks it, whose message names the field."""


class ConditionIn(LenientIn):
    """A condition on a field, or on one of several. `end with` is refused: filters have no such operator."""

    model_config = ConfigDict(json_schema_extra=_DESCRIBED)

    name: Text | list[Text]
    comparison_operator: Literal[
        "contains", "not contains", "start with", "is", "is not", "in", "not in", "empty", "not empty",
        "=", "≠", ">", "<", "≥", "≤", "before", "after",
    ]  # fmt: skip
    value: _Value = None


class ConditionsIn(LenientIn):
    logical_operator: Literal["and", "or"] | None = None
    conditions: list[ConditionIn] | None = Field(default=None, max_length=MAX_TERMS)


def make_filter(given: ConditionsIn | None) -> dict[str, Any] | None:
    """Returns the filter of a request; None without conditions. Raises `InvalidFilter` for a value of a wrong type."""
    parts = [_make_part(one) for one in (given.conditions if given is not None else None) or ()]
    if not parts:
        return None
    return {"$or" if given is not None and given.logical_operator == "or" else "$and": parts}


def _make_part(condition: ConditionIn) -> dict[str, Any]:
    names = [condition.name] if isinstance(condition.name, str) else condition.name
    if not names:
        raise InvalidFilter("a condition has no `name`; name the field of the metadata")
    if condition.comparison_operator == "not contains":
        test, negated = {"$contains": condition.value}, True
    else:
        test, negated = _OPERATORS[condition.comparison_operator](condition.value), False
    fields = [{_NAMES.get(name, name): test} for name in names]
    part = fields[0] if len(fields) == 1 else {"$or": fields}
    return {"$not": part} if negated else part


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_number(value: Any) -> Any:
    """Returns a number that Dify sends as a text; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError as error:
        raise InvalidFilter(f"a condition compares with {value!r}, which is no number") from error
    return int(number) if number.is_integer() else number

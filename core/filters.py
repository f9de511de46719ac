"""Metadata filters, parsed once and evaluated alike for every backend.

Example: `{"year": {"$gte": 1990}, "$or": [{"$key": "a"}, {"lang": "de"}]}`. A bare value means `$eq`, several fields
mean `$and`; `$key`, `$id` and `$title` refer to the document. A missing field matches only `$ne`, `$nin` and `$exists:
false`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidFilter
from core.text.characters import NO_CHARACTER, find_half

__all__ = ["MAX_DEPTH", "MAX_TERMS", "DocumentFilter", "parse_filter"]

MAX_DEPTH = 5
MAX_TERMS = 100

_MISSING = object()
_DOCUMENT_FIELDS = ("$key", "$id", "$title")


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """A parsed filter; `source` is its JSON value."""

    source: Mapping[str, Any]
    _test: Callable[[Mapping[str, Any]], bool]

    def matches(self, *, id: str, key: str, title: str, metadata: Mapping[str, Any]) -> bool:
        """Returns whether a document with these fields matches."""
        return self._test({**metadata, "$id": id, "$key": key, "$title": title})


def parse_filter(source: Mapping[str, Any]) -> DocumentFilter:
    """Returns the parsed filter; raises `InvalidFilter`, naming the part that is wrong.

    At most `MAX_DEPTH` levels and `MAX_TERMS` terms are allowed.
    """
    terms = _count_terms(source, 1)
    if terms > MAX_TERMS:
        raise InvalidFilter(f"the filter has {terms} terms; at most {MAX_TERMS} are allowed")
    if place := find_half(source):
        raise InvalidFilter(f"`{place}` of the filter {NO_CHARACTER}")
    return DocumentFilter(source=source, _test=_parse_group(source))


def _count_terms(node: object, depth: int) -> int:
    if depth > 2 * MAX_DEPTH:
        raise InvalidFilter(f"the filter is nested too deeply; at most {MAX_DEPTH} levels are allowed")
    if isinstance(node, Mapping):
        return sum(_count_terms(value, depth + 1) for value in node.values())
    if isinstance(node, Sequence) and not isinstance(node, str):
        return sum(_count_terms(value, depth + 1) for value in node)
    return 1


_Test = Callable[[Mapping[str, Any]], bool]


def _parse_group(node: object, depth: int = 1) -> _Test:
    if not isinstance(node, Mapping):
        raise InvalidFilter(f"a filter is an object of fields and operators, not {node!r}")
    if depth > MAX_DEPTH:
        raise InvalidFilter(f"the filter is nested too deeply; at most {MAX_DEPTH} levels are allowed")
    tests = [_parse_entry(field, condition, depth) for field, condition in node.items()]
    return lambda row: all(test(row) for test in tests)


def _parse_entry(field: str, condition: object, depth: int) -> _Test:
    if field in ("$and", "$or"):
        if not isinstance(condition, Sequence) or isinstance(condition, str) or not condition:
            raise InvalidFilter(f"{field} takes a list of filters with at least one element")
        tests = [_parse_group(part, depth + 1) for part in condition]
        combine = all if field == "$and" else any
        return lambda row: combine(test(row) for test in tests)
    if field == "$not":
        test = _parse_group(condition, depth + 1)
        return lambda row: not test(row)
    if field.startswith("$") and field not in _DOCUMENT_FIELDS:
        raise InvalidFilter(
            f"unknown operator {field} in the filter; known: $and, $or, $not, {', '.join(_DOCUMENT_FIELDS)}"
        )
    if isinstance(condition, Mapping):
        if not condition:
            raise InvalidFilter(f"the condition of field {field!r} is empty; give it an operator or a value")
        tests = [_parse_operator(field, name, operand) for name, operand in condition.items()]
    else:
        tests = [_parse_operator(field, "$eq", condition)]
    return lambda row: all(test(row) for test in tests)


def _parse_operator(field: str, name: str, operand: object) -> _Test:
    if name not in _OPERATORS:
        raise InvalidFilter(f"unknown operator {name} of field {field!r}; known: {', '.join(_OPERATORS)}")
    check, evaluate = _OPERATORS[name]
    if not check(operand):
        raise InvalidFilter(f"{name} of field {field!r} cannot take {operand!r}; it takes {_TAKES[name]}")
    return lambda row: evaluate(row.get(field, _MISSING), operand)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_ordered(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(_is_scalar(v) for v in value)


def _equal(value: object, operand: object) -> bool:
    if isinstance(value, bool) != isinstance(operand, bool):  # 1 == True in Python, not in JSON
        return False
    return value is not _MISSING and value == operand


def _make_ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: object, operand: object) -> bool:
        if not _is_ordered(value) or isinstance(value, str) != isinstance(operand, str):
            return False
        return compare(value, operand)

    return test


def _within(value: object, operand: Any) -> bool:
    return any(_equal(value, one) for one in operand)


def _contains(value: object, operand: object) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, Sequence) and any(_equal(one, operand) for one in value)


_OPERATORS: dict[str, tuple[Callable[[object], bool], Callable[[Any, Any], bool]]] = {
    "$eq": (_is_scalar, _equal),
    "$ne": (_is_scalar, lambda value, operand: not _equal(value, operand)),
    "$gt": (_is_ordered, _make_ordering(lambda a, b: a > b)),
    "$gte": (_is_ordered, _make_ordering(lambda a, b: a >= b)),
    "$lt": (_is_ordered, _make_ordering(lambda a, b: a < b)),
    "$lte": (_is_ordered, _make_ordering(lambda a, b: a <= b)),
    "$in": (_is_list, _within),
    "$nin": (_is_list, lambda value, operand: not _within(value, operand)),
    "$contains": (_is_scalar, _contains),
    "$exists": (lambda value: isinstance(value, bool), lambda value, operand: (value is not _MISSING) == operand),
}

_TAKES = {
    "$eq": "a string, number, boolean or null",
    "$ne": "a string, number, boolean or null",
    "$gt": "a number or a string",
    "$gte": "a number or a string",
    "$lt": "a number or a string",
    "$lte": "a number or a string",
    "$in": "a list of strings, numbers, booleans and nulls",
    "$nin": "a list of strings, numbers, booleans and nulls",
    "$contains": "a string, number, boolean or null",
    "$exists": "true or false",
}

"""Metadata filters, parsed once and evaluated alike for every backend.

Example: `{"year": {"$gte": 1990}, "$or": [{"$key": {"$prefix": "notes/"}}, {"lang": "de"}]}`. A bare value means `$eq`,
several fields mean `$and`; `$key`, `$id` and `$title` refer to the document. A missing field matches only `$ne`, `$nin`
and `$exists: false`.

`$gt`, `$gte`, `$lt` and `$lte` compare numbers with numbers, texts with texts, and dates (`core.text.dates`) as moments
with dates. A value of another type does not match.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidFilter
from core.ids import digest
from core.text.characters import NO_CHARACTER, find_half
from core.text.dates import is_date_like, parse_date

MAX_DEPTH = 5
MAX_TERMS = 100
MAX_CHARACTERS = 20_000

_MISSING = object()
_DOCUMENT_FIELDS = ("$key", "$id", "$title")


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """A parsed filter; `source` is its JSON value."""

    source: Mapping[str, Any]
    test: Callable[[Mapping[str, Any]], bool]

    @property
    def digest(self) -> str:
        """Filters with the same source have the same one."""
        return digest("filter", [json.dumps(self.source, sort_keys=True)])

    def matches(
        self, *, id: str, key: str, title: str, metadata: Mapping[str, Any], access: Sequence[str] | None
    ) -> bool:
        """Returns whether a document with these fields matches.

        `access` is tested by `core.principals` alone: requests cannot name `$access`, and metadata do not replace it.
        """
        return self.test({**metadata, "$id": id, "$key": key, "$title": title, "$access": access})

    def join(self, other: "DocumentFilter") -> "DocumentFilter":
        """Returns the filter that a document matches if it matches both."""
        tests = (self.test, other.test)
        return DocumentFilter(
            source={"$and": [self.source, other.source]}, test=lambda row: all(test(row) for test in tests)
        )


def parse_filter(source: Mapping[str, Any]) -> DocumentFilter:
    """Returns the parsed filter; raises `InvalidFilter`, naming the part that is wrong.

    At most `MAX_DEPTH` levels, `MAX_TERMS` terms, and `MAX_CHARACTERS` characters of names and values are allowed.
    """
    terms = _count_terms(source, 1)
    if terms > MAX_TERMS:
        raise InvalidFilter(f"the filter has {terms} terms; at most {MAX_TERMS} are allowed")
    if (length := _count_characters(source)) > MAX_CHARACTERS:
        raise InvalidFilter(f"the filter has {length:,} characters; at most {MAX_CHARACTERS:,} are allowed")
    if place := find_half(source):
        raise InvalidFilter(f"`{place}` of the filter {NO_CHARACTER}")
    return DocumentFilter(source=source, test=_parse_group(source))


def describe_no_match(source: Mapping[str, Any]) -> str:
    """Returns the sentence on a filter that matches no document. It names a field that may be meant for another: `key`
    is a field of the metadata, and `$key` the document's own.
    """
    meant = sorted({f"${field}" for field in _list_fields(source)} & set(_DOCUMENT_FIELDS))
    fields = ", ".join(f"`{field[1:]}` is a field of the metadata, and `{field}` the document's own" for field in meant)
    return f"the filter matches no document{f': {fields}' if fields else ''}"


def _list_fields(source: Mapping[str, Any]) -> set[str]:
    """Returns the fields that a filter names, also within its groups."""
    fields = set[str]()
    for field, condition in source.items():
        groups = condition if field in ("$and", "$or") else [condition] if field == "$not" else []
        fields |= {field}.union(*map(_list_fields, groups))
    return fields


def has_empty_part(source: object, depth: int = 1) -> bool:
    """Returns whether an object of a filter is empty, so that it matches every document.

    Filters deeper than `parse_filter` accepts are left to `parse_filter`.
    """
    if depth > 2 * MAX_DEPTH:
        return False
    if isinstance(source, dict):
        return not source or any(has_empty_part(value, depth + 1) for value in source.values())
    return isinstance(source, list) and any(has_empty_part(value, depth + 1) for value in source)


def _count_characters(node: object) -> int:
    if isinstance(node, Mapping):
        return sum(len(str(name)) + _count_characters(value) for name, value in node.items())
    if isinstance(node, Sequence) and not isinstance(node, str):
        return sum(map(_count_characters, node))
    return len(node) if isinstance(node, str) else 0


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
    takes, check, make = _OPERATORS[name]
    if not check(operand):
        raise InvalidFilter(f"{name} of field {field!r} cannot take {operand!r}; it takes {takes}")
    if field in _DOCUMENT_FIELDS and name != "$exists" and not _is_text(operand):
        raise InvalidFilter(f"{name} of {field} cannot take {operand!r}; {field} is always a string")
    if name in _ORDERINGS and isinstance(operand, str) and is_date_like(operand) and parse_date(operand) is None:
        raise InvalidFilter(f"{name} of field {field!r} cannot take {operand!r}: there is no such date or time")
    test = make(operand)
    return lambda row: test(row.get(field, _MISSING))


def _is_text(operand: object) -> bool:
    """Returns whether an operand is a string, or a list of strings."""
    return all(isinstance(one, str) for one in (operand if isinstance(operand, list | tuple) else [operand]))


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


_ValueTest = Callable[[object], bool]


def _make_ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any], _ValueTest]:
    def make(operand: Any) -> _ValueTest:
        moment = parse_date(operand) if isinstance(operand, str) else None

        def test(value: object) -> bool:
            if not _is_ordered(value) or isinstance(value, str) != isinstance(operand, str):
                return False
            if moment is None or not isinstance(value, str):
                return compare(value, operand)
            other = parse_date(value)
            return other is not None and compare(other, moment)

        return test

    return make


def _make_prefix(operand: Any) -> _ValueTest:
    return lambda value: isinstance(value, str) and value.startswith(operand)


def _within(value: object, operand: Any) -> bool:
    return any(_equal(value, one) for one in operand)


def _contains(value: object, operand: object) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, Sequence) and any(_equal(one, operand) for one in value)


def _make(evaluate: Callable[[object, Any], bool]) -> Callable[[Any], _ValueTest]:
    return lambda operand: lambda value: evaluate(value, operand)


_SCALAR = "a string, number, boolean or null"
_ORDERED = "a number, a string or a date such as 2024-05-01"
_LIST = "a list of strings, numbers, booleans and nulls"
_ORDERINGS = {
    "$gt": _make_ordering(lambda a, b: a > b),
    "$gte": _make_ordering(lambda a, b: a >= b),
    "$lt": _make_ordering(lambda a, b: a < b),
    "$lte": _make_ordering(lambda a, b: a <= b),
}
_OPERATORS: dict[str, tuple[str, Callable[[object], bool], Callable[[Any], _ValueTest]]] = {
    "$eq": (_SCALAR, _is_scalar, _make(_equal)),
    "$ne": (_SCALAR, _is_scalar, _make(lambda value, operand: not _equal(value, operand))),
    **{name: (_ORDERED, _is_ordered, ordering) for name, ordering in _ORDERINGS.items()},
    "$in": (_LIST, _is_list, _make(_within)),
    "$nin": (_LIST, _is_list, _make(lambda value, operand: not _within(value, operand))),
    "$prefix": ("a string", lambda operand: isinstance(operand, str), _make_prefix),
    "$contains": (_SCALAR, _is_scalar, _make(_contains)),
    "$exists": (
        "true or false",
        lambda operand: isinstance(operand, bool),
        _make(lambda value, operand: (value is not _MISSING) == operand),
    ),
}
"""For each operator: what it takes, the check of its operand, and what makes its test of values."""

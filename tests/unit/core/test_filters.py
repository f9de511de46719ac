"""Filters: what they match, compared with a plain evaluation, and what they refuse."""

from typing import Any

import pytest
from hypothesis import given

from core.errors import InvalidFilter
from core.filters import parse_filter
from testing.filters import filters, is_match, metadata


@given(where=filters, fields=metadata)
def test_filters_agree_with_a_plain_evaluation(where: dict[str, Any], fields: dict[str, Any]) -> None:
    document = {**fields, "$id": "0", "$key": "notes/a", "$title": "A"}
    found = parse_filter(where).matches(id="0", key="notes/a", title="A", metadata=fields, access=None)
    assert found == is_match(where, document)


def _matches(where: dict[str, Any], **fields: Any) -> bool:
    return parse_filter(where).matches(id="0", key="notes/a.md", title="A", metadata=fields, access=None)


def test_prefixes() -> None:
    assert _matches({"$key": {"$prefix": "notes/"}})
    assert not _matches({"$key": {"$prefix": "note/"}})
    assert _matches({"path": {"$prefix": "北"}}, path="北京")
    assert not _matches({"path": {"$prefix": ""}})
    assert not _matches({"path": {"$prefix": "1"}}, path=12)


@pytest.mark.parametrize(
    ("value", "where", "expected"),
    [
        ("2024-05-01", {"$gte": "2024-05-01T00:00:00Z"}, True),
        ("2024-05-01T01:00:00+02:00", {"$lt": "2024-05-01"}, True),
        ("2024-05-01T12:00:00", {"$gt": "2024-05-01T13:00:00+02:00"}, True),
        ("2024-05-01T12:00:00.5Z", {"$gt": "2024-05-01T12:00:00Z"}, True),
        ("0001-01-01T00:00:00+14:00", {"$lt": "0001-01-01"}, True),
        ("spring 2024", {"$gt": "2024-05-01"}, False),
        ("2024-02-30", {"$gt": "2024-01-01"}, False),
        (20240501, {"$gt": "2024-01-01"}, False),
        ("2024-05-01", {"$gte": "2024", "$lt": "2025"}, True),
    ],
)
def test_dates_are_compared_as_moments(value: object, where: dict[str, Any], expected: bool) -> None:
    assert _matches({"on": where}, on=value) is expected


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ({"on": {"$gt": "2024-02-30"}}, "no such date"),
        ({"on": {"$lte": "2024-05-01T25:00"}}, "no such date"),
        ({"$key": {"$prefix": 5}}, r"\$prefix of field '\$key' cannot take 5; it takes a string"),
        ({"$key": 5}, r"\$key is always a string"),
        ({"$title": {"$in": ["a", None]}}, r"\$title is always a string"),
        ({"year": {"$gt": True}}, "takes a number"),
        ({"year": {"$between": [1, 2]}}, r"unknown operator \$between"),
        ({"$author": "Ada"}, r"unknown operator \$author"),
    ],
)
def test_wrong_filters_are_refused(where: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidFilter, match=reason):
        parse_filter(where)

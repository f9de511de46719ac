"""Random metadata and filters, and a plain evaluation of filters to compare with. For tests of filters and records."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

__all__ = ["draw", "filters", "is_match", "metadata"]

T = TypeVar("T")

_FIELDS = ("year", "lang", "on", "tags")
_DATES = (
    "2024-05-01",
    "2024-05-01T00:00:00Z",
    "2024-05-01T01:00:00+02:00",
    "2024-04-30T23:30:00-01:00",
    "2024-05-01 12:00",
)
_TEXTS = st.sampled_from(("", "a", "ab", "notes/a", "2024", "2024-13-01", "süd", "北", *_DATES))
_NUMBERS = st.one_of(st.integers(-2, 2), st.sampled_from((0.5, 1.0, 2024, 1e300)))
_SCALARS = st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXTS)
_ORDERED = st.one_of(_NUMBERS, st.sampled_from(("", "a", "ab", "2024", *_DATES)))
_LISTS = st.lists(_SCALARS, max_size=3)
_VALUES = st.one_of(_SCALARS, _LISTS, st.dictionaries(st.sampled_from("xy"), _SCALARS, max_size=1))

metadata = st.dictionaries(st.sampled_from(_FIELDS), _VALUES, max_size=4)

_CONDITIONS = st.one_of(
    _SCALARS,
    st.one_of(
        st.tuples(st.sampled_from(("$eq", "$ne", "$contains")), _SCALARS),
        st.tuples(st.sampled_from(("$gt", "$gte", "$lt", "$lte")), _ORDERED),
        st.tuples(st.sampled_from(("$in", "$nin")), _LISTS),
        st.tuples(st.just("$prefix"), _TEXTS),
        st.tuples(st.just("$exists"), st.booleans()),
    ).map(lambda pair: {pair[0]: pair[1]}),
)
_KEY_CONDITIONS = st.one_of(
    _TEXTS,
    st.tuples(st.sampled_from(("$eq", "$ne", "$prefix", "$contains")), _TEXTS).map(lambda pair: {pair[0]: pair[1]}),
)
_LEAVES = st.one_of(
    st.dictionaries(st.sampled_from(_FIELDS), _CONDITIONS, max_size=2),
    st.dictionaries(st.sampled_from(("$key", "$title")), _KEY_CONDITIONS, max_size=1),
)
filters: st.SearchStrategy[dict[str, Any]] = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
    ),
    max_leaves=5,
).filter(lambda where: _depth(where) <= 5)


def _depth(where: Mapping[str, Any]) -> int:
    parts = [part for name in ("$and", "$or") for part in where.get(name, [])]
    parts += [where["$not"]] if "$not" in where else []
    return 1 + max(map(_depth, parts), default=0)


def draw(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """Returns values of a strategy, the same in every run. For tests that cannot be run once for each value."""
    drawn: list[T] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(value: T) -> None:
        drawn.append(value)

    collect()
    return drawn


def is_match(where: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Evaluates a filter in the plainest way. `document` is the metadata with `$key`, `$id` and `$title`."""
    return all(_is_entry_match(field, condition, document) for field, condition in where.items())


def _is_entry_match(field: str, condition: Any, document: Mapping[str, Any]) -> bool:
    if field == "$and":
        return all(is_match(part, document) for part in condition)
    if field == "$or":
        return any(is_match(part, document) for part in condition)
    if field == "$not":
        return not is_match(condition, document)
    if not isinstance(condition, dict):
        condition = {"$eq": condition}
    present = field in document
    return all(_holds(name, present, document.get(field), operand) for name, operand in condition.items())


def _holds(name: str, present: bool, value: Any, operand: Any) -> bool:
    if name == "$exists":
        return present is operand
    if name in ("$ne", "$nin"):
        return not _holds({"$ne": "$eq", "$nin": "$in"}[name], present, value, operand)
    if not present:
        return False
    if name == "$eq":
        return _same(value, operand)
    if name == "$in":
        return any(_same(value, one) for one in operand)
    if name == "$prefix":
        return isinstance(value, str) and value[: len(operand)] == operand
    if name == "$contains":
        if isinstance(value, str):
            return isinstance(operand, str) and value.find(operand) >= 0
        return isinstance(value, list) and any(_same(one, operand) for one in value)
    return _compares(name, value, operand)


def _same(value: Any, operand: Any) -> bool:
    return isinstance(value, bool) == isinstance(operand, bool) and bool(value == operand)


def _compares(name: str, value: Any, operand: Any) -> bool:
    if isinstance(operand, str) and operand in _DATES:
        if not isinstance(value, str) or value not in _DATES:
            return False
        value, operand = _seconds(value), _seconds(operand)
    elif isinstance(value, bool) or not isinstance(value, str if isinstance(operand, str) else int | float):
        return False
    if name in ("$gt", "$gte"):
        return bool(value > operand) or (name == "$gte" and bool(value == operand))
    return bool(value < operand) or (name == "$lte" and bool(value == operand))


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

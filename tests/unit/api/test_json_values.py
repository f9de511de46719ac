import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.transport.bodies import count_values

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text('",:{}[]\\\na', max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda of: st.lists(of, max_size=5) | st.dictionaries(st.text('",:{}[]\\a', max_size=4), of, max_size=5)
)


def count(value: Any) -> int:
    """Returns the number of values and names."""
    if isinstance(value, list):
        return 1 + sum(map(count, value))
    return 1 + sum(1 + count(one) for one in value.values()) if isinstance(value, dict) else 1


@given(VALUES, st.booleans())
def test_no_value_is_missed_and_none_counts_twice(value: Any, is_spaced: bool) -> None:
    body = json.dumps(value, ensure_ascii=is_spaced, indent=2 if is_spaced else None).encode()
    assert count(value) <= count_values(body, 1000) <= 2 * count(value)


def test_of_too_many_all_need_not_be_counted() -> None:
    assert count_values(b"[" + b'"",' * 1000 + b"1]", 100) > 100
    assert count_values(b'"' * 1000, 10) > 10
    assert count_values(b"", 10) == 1

"""The work to find a cell grows with the size of a hostile table, and not with its square. Calls are counted."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from core.documents import Span
from core.passage_context import find_cell


def _fields(size: int) -> str:
    """A workbook's rows, whose cells say their names, of as many columns."""
    names = [f"N{number}" for number in range(size)]
    return "\n".join([" | ".join(["", *names]), *[" | ".join(["x", *(f"{name}: 5" for name in names)])] * 3])


def _records(size: int) -> str:
    return "\n".join("; ".join(f"N{number}: 5" for number in range(size)) for _ in range(3))


def _lines_in_rows(size: int) -> str:
    """A record for each line, as a cell with thousands of lines is written."""
    return "\n".join(f"N: {number}; M: 5" for number in range(size))


def _groups(size: int) -> str:
    return "\n".join(f"Group {number}:\nx | {number}" for number in range(size))


def _tables(size: int) -> str:
    return "\n\n".join(["Name | Rate\nBo | 5\nAl | 6"] * size)


def _currency(size: int) -> str:
    return "\n".join(["x | " + " | ".join(["$ | 5"] * size)] * 3)


@pytest.mark.parametrize(
    ("make", "size"),
    [(_fields, 90), (_records, 90), (_lines_in_rows, 1500), (_groups, 1500), (_tables, 400), (_currency, 100)],
)
def test_work_is_linear(make: Callable[[int], str], size: int) -> None:
    small, large = _count_calls(make(size)), _count_calls(make(2 * size))
    assert large < 2.6 * small, f"{small:,} calls for {size}, {large:,} for twice as many"


def _count_calls(text: str) -> int:
    """Returns the calls of functions, also of those in C, to find the last cell of a text."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    last = Span(start=len(text) - 1, end=len(text))
    sys.setprofile(count)
    try:
        find_cell(text, last, "5 7", [text])
    finally:
        sys.setprofile(None)
    return calls

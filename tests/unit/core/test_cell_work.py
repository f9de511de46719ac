"""The work to find a cell grows with the size of a hostile table, and not with its square. Calls are counted."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from core.documents import Span
from core.passage_context import find_cell
from tests.counted_lines import count_lines


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


def _stated(size: int) -> str:
    """One record of which each value is stated by the answer."""
    return "; ".join(["N: 5"] * size)


def _names_above_a_rule(size: int) -> str:
    return "".join(f"| a{number} | b{number} |\n" for number in range(size)) + "|---|---|\n| x | 5 |\n| y | 7 |\n"


def _spanned(size: int) -> str:
    """Columns below one name of many words, each of which is the beginning of words of the question."""
    name = " ".join(f"wor{number}" for number in range(25))
    names = f"| | {name} |" + " |" * size
    return f"{names}\n|{'---|' * (size + 2)}\n| x |{' 5 |' * (size + 1)}\n"


@pytest.mark.parametrize(
    ("make", "size"),
    [(_fields, 90), (_records, 90), (_lines_in_rows, 1500), (_groups, 1500), (_tables, 400), (_currency, 100)],
)
def test_work_is_linear(make: Callable[[int], str], size: int) -> None:
    small, large = _count_calls(make(size)), _count_calls(make(2 * size))
    assert large < 2.6 * small, f"{small:,} calls for {size}, {large:,} for twice as many"


@pytest.mark.parametrize(("make", "size"), [(_stated, 150), (_names_above_a_rule, 400), (_spanned, 40)])
def test_work_is_linear_where_an_answer_states_all_cells(make: Callable[[int], str], size: int) -> None:
    question = " ".join(f"word{number}" for number in range(800))

    def count(text: str) -> int:
        whole = Span(start=0, end=len(text))
        return count_lines(lambda: find_cell(text, whole, "5 7", [], question), "passage_context")

    small, large = count(make(size)), count(make(2 * size))
    assert large < 2.6 * small, f"{small:,} lines for {size}, {large:,} for twice as many"


def test_a_question_of_any_length_costs_little() -> None:
    short, long = (" ".join(f"word{number}" for number in range(n)) for n in (800, 8000))
    for question in (short, long):
        _count_calls(_spanned(30), question)  # what is imported, compiled and kept of words is not counted
    assert _count_calls(_spanned(30), f"{long}?") < 1.2 * _count_calls(_spanned(30), f"{short}?")
    last = f"{long} {long} What is the name199x of it?"
    text = "Item | name198x | name199x\nBolt | 5 | 7\nNut | 6 | 8\n"
    start = text.index("Bolt")
    cell = find_cell(text, Span(start=start, end=start + 12), "5 7", (), last)
    assert cell is not None
    assert cell.value == "7", "the question at the end of a pasted text chooses the column"


def _count_calls(text: str, question: str = "") -> int:
    """Returns the calls of functions, also of those in C, to find the last cell of a text."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    last = Span(start=len(text) - 1, end=len(text))
    sys.setprofile(count)
    try:
        find_cell(text, last, "5 7", [text])
        find_cell(text, Span(start=0, end=len(text)), "5 7", [], question)
    finally:
        sys.setprofile(None)
    return calls

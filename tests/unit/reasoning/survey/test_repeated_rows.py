"""Rows that two passages have are added up once."""

from decimal import Decimal

import pytest

from core.documents import Chunk, Span
from reasoning.strategies.survey.repeated_rows import RepeatedRows
from reasoning.strategies.survey.values import list_labelled, read_amount, read_passage_grids, stems_of

HEADER = "| Item | Stock |\n|---|---|\n"
ROWS = [f"| Part {at} | {at} |\n" for at in range(1, 7)]


def passage(position: int, rows: list[str], start: int | None) -> Chunk:
    text = HEADER + "".join(rows)
    span = None if start is None else Span(start=start, end=start + len(text))
    return Chunk(
        id=f"c{position}", document_id="d", view_id="v", position=position, text=text, heading="", page=None, span=span
    )


def add_up(*passages: Chunk) -> Decimal:
    read_before, total = RepeatedRows(), Decimal()
    for chunk in passages:
        for value in list_labelled(chunk, stems_of("stock"), read_before):
            amount = read_amount(value.text, value.column)
            assert amount is not None
            total += amount.value
    return total


@pytest.mark.parametrize("start", [None, 40])
def test_a_row_at_the_end_of_one_passage_and_the_start_of_the_next_counts_once(start: int | None) -> None:
    later = None if start is None else start + len("".join(ROWS[:2]))
    assert add_up(passage(0, ROWS[:3], start), passage(1, ROWS[2:], later)) == sum(range(1, 7))


def test_equal_rows_of_one_passage_or_of_passages_apart_are_two() -> None:
    assert add_up(passage(0, [ROWS[0], ROWS[0]], None)) == 2
    assert add_up(passage(0, ROWS[:2], None), passage(5, ROWS[1:2], None)) == 1 + 2 + 2
    assert add_up(passage(0, ROWS[:2], 0), passage(1, ROWS[1:2], 500)) == 1 + 2 + 2


def test_all_repeated_rows_are_found() -> None:
    rows = RepeatedRows()
    first, second = passage(0, ROWS[:4], None), passage(1, ROWS[2:], None)
    lines = [[row for grid in read_passage_grids(chunk) for row in grid.rows] for chunk in (first, second)]
    assert rows.find(first, lines[0]) == set()
    assert rows.find(second, lines[1]) == {(row.start, row.end) for row in lines[1][:2]}

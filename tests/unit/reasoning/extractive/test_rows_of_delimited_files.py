"""Questions over the rows of CSV files of several passages: empty cells, values that are words of columns, persons."""

import asyncio
import csv
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import pytest

from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_rows import RowsAnswer, answer_over_rows
from testing.word_search import hit
from tests.unit.reasoning.extractive.test_over_rows import _CORPUS, _Finder

_PASSAGE = 300
"""Characters of a passage: three or four rows."""
PARCELS = """Parcel No,Sent On,Carrier,Weight (kg),State,Returned On
P-01,2025-01-04,Swift,4.0,Returned,2025-02-01
P-02,2025-01-09,Heron,2.5,Returned,2025-02-03
P-03,2025-02-11,Swift,7.5,Delivered,
P-04,2025-02-12,Heron,1.0,Delivered,
P-05,2025-03-02,Swift,3.0,Returned,2025-04-05
P-06,2025-03-09,Heron,9.0,Lost,
P-07,2025-03-15,Heron,6.0,Delivered,
P-08,2025-04-01,Swift,8.0,Returned,2026-01-03
"""


def _hits(number: int, title: str, text: str) -> list[Hit]:
    """Returns a CSV file as the loader and the chunker give it: empty cells are left out, whole rows in passages."""
    columns, *rows = csv.reader(StringIO(text))
    passages = [""]
    for row in rows:
        cells = zip(columns, row, strict=True)
        line = "; ".join(f"{name}: {cell}" for name, cell in cells if cell) + "\n"
        if len(passages[-1]) + len(line) > _PASSAGE:
            passages.append("")
        passages[-1] += line
    made = [hit(str(number), title, passage) for passage in passages]
    return [
        replace(found, chunk=replace(found.chunk, id=f"{number}#{position}", position=position))
        for position, found in enumerate(made)
    ]


def _answer(question: str, *files: tuple[str, str]) -> RowsAnswer | None:
    hits = [found for number, (title, text) in enumerate(files) for found in _hits(number, title, text)]
    return asyncio.run(answer_over_rows(_Finder(hits), Question(corpus=_CORPUS, text=question), question, hits))


def _lines(question: str, files: Sequence[tuple[str, str]]) -> list[str] | None:
    """Returns the lines of an answer without markers and without the description of what was read."""
    answer = _answer(question, *files)
    if answer is None:
        return None
    return [line.split(" [")[0] for line in answer.text.split("\n\n")[:-1]]


def test_a_cell_whose_column_is_empty_in_the_other_rows_of_its_passage_is_read_everywhere() -> None:
    assert len(_hits(0, "", PARCELS)) > 2
    lines = _lines("How many parcels per state?", [("parcels", PARCELS)])
    assert lines == ["Returned: 4 rows", "Delivered: 3 rows", "Lost: 1 row"]


def test_a_cell_that_one_row_alone_has_is_read() -> None:
    rows = "Item,State,Note\nLamp,sold,\nRake,open,\nSofa,sold,late\nOven,open,\nBed,sold,\n"
    assert _lines("How many items per state?", [("items", rows)]) == ["sold: 3 rows", "open: 2 rows"]


def test_text_with_a_semicolon_and_a_colon_stays_in_its_cell() -> None:
    rows = "Item,Note\nLamp,red; Care: dry\nRake,blue\nSofa,green\nOven,black\n"
    answer = _answer("How many items per note?", ("items", rows))
    assert answer is not None
    assert "red; Care: dry: 1 row" in answer.text


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("How many parcels are returned?", ["4 rows"]),
        ("What is the total weight of the returned parcels?", ["Weight (kg), total: 17.5 (4 values)"]),
        ("Which parcels of Heron are returned?", ["P-02: Carrier: Heron; State: Returned"]),
        ("How many parcels are not returned?", ["4 rows"]),
        ("How many parcels were returned in February 2025?", ["2 rows"]),
    ],
)
def test_a_word_that_is_a_cell_goes_before_a_column_whose_name_has_it(question: str, lines: list[str]) -> None:
    """`Returned` is a state, and a part of the name `Returned On`."""
    assert _lines(question, [("parcels", PARCELS)]) == lines


def test_a_word_that_may_be_a_cell_or_a_column_of_amounts_is_not_computed() -> None:
    rows = "Order,State,Price (EUR),Refunded amount (EUR)\nA,Refunded,5,5\nB,Sent,7,0\nC,Refunded,9,4\nD,Sent,3,0\n"
    assert _lines("What is the refunded total?", [("orders", rows)]) is None
    assert _lines("How many orders are refunded?", [("orders", rows)]) == ["2 rows"]
    assert _lines("What is the total refunded amount?", [("orders", rows)]) == [
        "Refunded amount (EUR), total: 9 (4 values)"
    ]


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("How many parcels were sent in March 2025?", ["3 rows"]),
        ("Which parcel sent from 2024 on is the heaviest?", None),
        ("What is the heaviest parcel that was sent in January 2025?", ["P-01: Weight (kg): 4.0"]),
    ],
)
def test_a_time_is_of_the_column_of_dates_that_is_named_before_it(question: str, lines: list[str] | None) -> None:
    assert _lines(question, [("parcels", PARCELS)]) == lines


@pytest.mark.parametrize(
    "question",
    [
        "How many parcels are there in 2025?",
        "What is the total weight per month?",
        "Which month had the highest weight?",
    ],
)
def test_a_time_that_no_column_surely_has_is_declined(question: str) -> None:
    answer = _answer(question, ("parcels", PARCELS))
    assert answer is not None
    assert answer.abstained
    assert "Its columns of dates: “Sent On”, “Returned On”." in answer.text


def test_a_time_is_declined_only_by_a_passage_of_rows() -> None:
    said = "We sent forty tons in March 2025, as our carriers reported to us in their letters of the next month. " * 9
    rows = _hits(0, "parcels", PARCELS)
    hits = [replace(found, chunk=replace(found.chunk, text=f"{said}\n\n{found.chunk.text}")) for found in rows]
    question = "What is the total weight of the parcels in March 2025?"
    asked = Question(corpus=_CORPUS, text=question)
    assert asyncio.run(answer_over_rows(_Finder(rows), asked, question, rows)) is not None
    assert asyncio.run(answer_over_rows(_Finder(hits), asked, question, hits)) is None


ORDERS = """Order,Order date,Price,Shipped
A,2024-01-02,5,2024-02-01
B,2025-01-02,11,2025-01-09
C,2024-03-01,9,2024-04-01
"""


@pytest.mark.parametrize(
    ("time", "lines"),
    [
        ("2024", ["C: Price: 9"]),
        ("March 2024", ["C: Price: 9"]),
        ("2024 to 2025", ["B: Price: 11"]),
        ("2024 onwards", None),
    ],
)
def test_orders_from_a_year_are_of_the_year(time: str, lines: list[str] | None) -> None:
    assert (_lines(f"Which order from {time} has the highest price?", [("orders", ORDERS)]) or None) == lines


CREW = """Badge,Name,Team,Role,Coach
B1,Ann Ode,Deck,Deck Lead,Lia Roth
B2,Bo Tan,Deck,Diver,Ann Ode
B3,Lia Roth,Yard,Diver,Ann Ode
B4,Cy Hume,Yard,Welder,Lia Roth
"""
LESSONS = """Badge,Name,Lesson,Passed,Points
B1,Ann Ode,First Response,2025-02-03,71
B2,Bo Tan,First Response,2025-02-04,58
B1,Ann Ode,Rope Work,2025-05-06,88
B4,Cy Hume,Rope Work,2025-05-07,63
B2,Bo Tan,Rope Work,2025-05-08,90
"""


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("How many people took the Rope Work lesson?", ["3 different “Name”"]),
        ("Who took the First Response lesson?", ["Ann Ode: Lesson: First Response", "Bo Tan: Lesson: First Response"]),
        ("How many people does each team have?", ["Deck: 2 rows", "Yard: 2 rows"]),
        ("Who is the coach of Bo Tan?", ["Bo Tan: Coach: Ann Ode"]),
        ("Who is the coach of the Divers?", None),
        ("Who is in the team Deck?", ["Ann Ode: Team: Deck", "Bo Tan: Team: Deck"]),
        ("Who are the deck leads?", ["Ann Ode: Role: Deck Lead"]),
    ],
)
def test_persons_are_counted_and_the_cell_of_one_person_is_told(question: str, lines: list[str] | None) -> None:
    assert _lines(question, [("crew", CREW), ("lessons", LESSONS)]) == lines

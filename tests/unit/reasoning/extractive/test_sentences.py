"""Which sentence of a report tells the value of its own quarter, and which questions are asked of each report."""

import pytest

from core.documents import Span
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.sentences import count_reports, find_sentence, leave_out_course
from reasoning.strategies.extractive.quoting.units import Unit
from tests.unit.reasoning.extractive.test_series import hit


def unit(text: str, *, is_row: bool = False) -> Unit:
    found = hit("2025 Q3 Okeke Ferries.md", text)
    stems = find_stems(text)
    span = Span(start=0, end=len(text))
    return Unit(hit=found, rank=0, span=span, text=text, stems=stems, beside=frozenset(), is_row=is_row)


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How did the headcount of Okeke change from Q1 to Q4 2025?", "How did the headcount of Okeke change?"),
        ("What was the load factor in each quarter of 2025?", "What was the load factor?"),
        ("What was the load factor at the end of the third quarter of 2025?", "What was the load factor?"),
        ("How has the load factor developed over 2025?", "How has the load factor developed?"),
        ("What was the load factor of ship 3?", "What was the load factor of ship 3?"),
    ],
)
def test_each_report_is_asked_without_the_quarters(question: str, rest: str) -> None:
    assert leave_out_course(question) == rest


@pytest.mark.parametrize(
    ("question", "least"),
    [
        ("How did the headcount change from Q1 to Q4 2025?", 2),
        ("What was the backlog in Q3 2025?", 1),
        ("What was the average backlog over all quarters?", 0),
        ("Why did the backlog fall in Q3 2025?", 0),
        ("What was the backlog?", 0),
    ],
)
def test_so_many_reports_have_to_tell(question: str, least: int) -> None:
    assert count_reports(question) == least


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What was the backlog of Okeke?", "Backlog at quarter end was $47.2 million, and the ratio was 1.19."),
        ("What was the ratio of Okeke?", "Backlog at quarter end was $47.2 million, and the ratio was 1.19."),
        ("How did the headcount of Okeke change?", "We had 412 employees at the end of the quarter."),
        ("How many berths did Okeke run?", "At the end of the quarter 31 berths were ours."),
        ("How much did Okeke spend on capex?", "Capital expenditure in the quarter came to about €4 million."),
        ("What was the order book of Okeke?", "The order book at 30 September 2025 was £228 million."),
        ("How did the forecast of revenue change?", "We now expect revenue of €90 million to €95 million."),
        ("Wie entwickelte sich der Auftragsbestand?", "Der Auftragsbestand betrug 17 Mio. Euro."),
    ],
)
def test_a_sentence_tells_the_value(question: str, sentence: str) -> None:
    other = unit("The harbour has a pilot since 1931.")
    found = find_sentence(question, [other, unit(sentence)])
    assert found is not None
    assert found.text == sentence


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What was the net debt of Okeke?", "Net debt rose as we paid £3.2 million for a crane."),
        ("What was the revenue from tugs?", "Revenue rose by 14 % to £74.5 million, as both tugs were handed over."),
        ("What was the backlog of Okeke?", "In the prior-year quarter, backlog was $40 million."),
        ("What was the backlog of Okeke?", "Backlog at 30 September 2024 was $40 million."),
        ("What was the capex of Okeke?", "Capital expenditure in the nine months was £9 million."),
        ("What was the capex of Okeke?", "For 2026 we expect capital expenditure of about £14 million."),
        ("What was the capex of Okeke?", "Capital expenditure is decided by the board on 3 March."),
        ("How did the forecast of revenue change?", "Revenue was €90 million."),
        ("What was the backlog of Okeke?", "The backlog of Nordic Pumps was £40 million."),
        ("What was the backlog of Okeke?", "Workboats' backlog was £40 million."),
        ("What was the backlog of Nordic Pumps?", "Backlog was £90 million."),
        ("What was the headcount of Okeke?", "In Germany, we had 412 employees."),
        ("How many tugs did Okeke run?", "We run 51 % of the port."),
        ("How did it change?", "We had 412 employees."),
    ],
)
def test_a_sentence_of_something_else_tells_nothing(question: str, sentence: str) -> None:
    assert find_sentence(question, [unit(sentence)]) is None


def test_a_row_of_the_measure_goes_before_sentences() -> None:
    sentence = unit("The backlog was $47.2 million.")
    assert find_sentence("What was the backlog?", [unit("Backlog | 44.1 | 42.0", is_row=True), sentence]) is None

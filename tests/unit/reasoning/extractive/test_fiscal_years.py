"""Quarters of fiscal years are called as the reports are."""

import pytest

from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive.fiscal_years import call_fiscal_quarter, find_difference
from testing.word_search import CORPUS, RecordingSearcher, hit
from tests.twins.embedder import TwinEmbedder

TOLD = (
    "Sales of pumps for the third quarter and first nine months of fiscal year {} rose, "
    "from the third quarter of fiscal {}."
)


def report(called: str, fiscal: int, company: str = "Okeke Pumps") -> Hit:
    return hit(f"{called} {company}.pdf", f"{company} Form 10-Q", TOLD.format(fiscal, fiscal - 1))


LATER = [report("2023 Q3", 2024), report("2022 Q3", 2023)]


def backends(hits: list[Hit]) -> ReasoningBackends:
    searcher = RecordingSearcher("words", hits, [])
    return ReasoningBackends(searcher=searcher, embedder=TwinEmbedder(), searcher_name="words")


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        ("What were sales in the third quarter of fiscal 2023?", "What were sales in the Q3 2022?"),
        ("What were pump sales in Q3 FY2024?", "What were pump sales in Q3 2023?"),
        ("Pump sales, fiscal year 2024 third quarter", "Pump sales, Q3 2023"),
        ("Pump sales in fiscal Q3 2024", "Pump sales in Q3 2023"),
        ("Sales from Q3 fiscal 2023 to Q3 fiscal 2024?", "Sales from Q3 2022 to Q3 2023?"),
        ("What were sales in the third quarter of 2023?", "What were sales in the third quarter of 2023?"),
        ("What were sales in fiscal 2023?", "What were sales in fiscal 2023?"),
    ],
)
async def test_a_fiscal_quarter_is_called_as_its_report(asked: str, called: str) -> None:
    question, note = await call_fiscal_quarter(backends(LATER), Question(corpus=CORPUS, text=asked), Trace())
    assert question.text == called
    assert note.endswith("as the reports are called.") is (asked != called)


async def test_reports_that_are_called_by_their_fiscal_year_stay() -> None:
    asked = Question(corpus=CORPUS, text="What were sales in the third quarter of fiscal 2023?")
    question, note = await call_fiscal_quarter(backends([report("2023 Q3", 2023)]), asked, Trace())
    assert (question, note) == (asked, "")


def test_reports_that_differ_or_say_nothing_decide_nothing() -> None:
    assert find_difference(LATER) == 1
    assert find_difference([*LATER, report("2021 Q3", 2021)]) == 0
    assert find_difference([report("2023 Q2", 2024)]) == 0, "what is told is of another quarter"
    assert find_difference([hit("notes.txt", "Notes", TOLD.format(2024, 2023))]) == 0
    assert find_difference([*LATER, report("2023 Q3", 2023, "Solberg Mills")]) == 1, "another company"

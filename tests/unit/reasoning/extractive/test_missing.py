"""Quarters that a question names and no document tells."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.documents import Span
from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_periods import missing as module
from reasoning.strategies.extractive.over_periods.missing import MissingPeriod, write_missing_period
from reasoning.strategies.extractive.quoting.units import Unit
from tests.unit.reasoning.extractive.test_series import hit

KEYS = [f"Solberg Mills {quarter}.md" for quarter in ("Q3 2023", "Q4 2023", "Q1 2024")]
TABLE = "Key figures\n\n| NOK million | Q1 2024 | Q4 2023 | Q1 2023 |\n|---|---|---|---|\n| Net debt | 71 | 75 | 80 |\n"


def find_missing_period(question: str, hits: Sequence[Hit], best: int = 0) -> MissingPeriod | None:
    """Returns what is missing if the best unit is of the hit at place `best`."""
    hit = hits[best]
    text = hit.chunk.text
    unit = Unit(
        hit=hit,
        rank=best,
        span=Span(start=0, end=len(text)),
        text=text,
        stems=frozenset(),
        beside=frozenset(),
        is_row=False,
    )
    return module.find_missing_period(question, hits, [unit])


def newest(text: str = TABLE) -> Hit:
    return hit(KEYS[-1], text, KEYS)


@pytest.mark.parametrize("named", ["Q3 2024", "the third quarter of 2024", "2024 Q3", "dritten Quartal 2024"])
def test_a_quarter_that_no_report_has_is_named_with_those_that_are_there(named: str) -> None:
    missing = find_missing_period(f"What was the net debt of Solberg Mills in {named}?", [newest()])
    assert missing is not None
    assert write_missing_period(missing) == (
        "No document that was found tells Q3 2024; the reports are of Q3 2023, Q4 2023 and Q1 2024. Nearest:"
    )


@pytest.mark.parametrize(
    "question",
    [
        "What was net debt in Q4 2023?",
        "What was net debt in Q1 2023?",
        "What was net debt?",
        "What was net debt in 2025?",
        "What is the outlook for net debt in Q1 2025?",
        "How did net debt change from Q3 2024 to Q4 2024?",
    ],
)
def test_periods_of_reports_and_columns_are_there(question: str) -> None:
    assert find_missing_period(question, [newest()]) is None


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Net debt should be 60 in the third quarter of 2024.", True),
        ("We expect a net debt of 60 in the third quarter.", True),
        ("Net debt of 3Q24: 60", True),
        ("Net debt was 75 in the third quarter of 2023.", False),
        ("By March 2024 net debt was 71, in Q4 2023 75.", False),
        ("| | Three months ended September 30, 2024 |\n|---|---|\n| Net debt | 60 |\n", True),
    ],
)
def test_another_passage_may_tell_the_quarter(text: str, is_told: bool) -> None:
    missing = find_missing_period("What was net debt in Q3 2024?", [newest(f"{TABLE}\n\n{text}\n")])
    assert (missing is None) is is_told


@pytest.mark.parametrize(
    ("day", "is_told"),
    [
        ("5 August 2024", True),
        ("2024-09-30", True),
        ("2024/09/30", True),
        ("9/30/2024", True),
        ("30/09/2024", True),
        ("5 October 2024", False),
        ("12/31/2024", False),
    ],
)
def test_a_document_that_is_no_report_tells_the_quarter_of_its_days(day: str, is_told: bool) -> None:
    minutes = hit("minutes.md", f"Minutes of {day}\n\nThe board sold the mill of Lade.")
    missing = find_missing_period("What was sold in Q3 2024?", [newest(), minutes])
    assert (missing is None) is is_told


def test_documents_that_no_quarter_is_the_name_of_lack_none() -> None:
    notes = replace(newest(), document=replace(newest().document, key="notes.md"), versions=())
    assert find_missing_period("What was net debt in Q3 2024?", [notes]) is None


@pytest.mark.parametrize(
    "text",
    [
        "The cleaning contract of Marn with Orm AS ends on 12/31/2024.",
        "The cleaning contract of Marn with Orm AS ends at year-end 2024.",
        "Bo Lind repaired the roof of the mill.",
    ],
)
def test_an_ordinary_document_answers_beside_reports(text: str) -> None:
    hits = [newest(), hit("contract.md", text)]
    assert find_missing_period("Which contract of Marn ends in Q4 2024?", hits, best=1) is None


def test_a_question_that_nothing_is_quoted_for_lacks_no_quarter() -> None:
    assert module.find_missing_period("What was net debt in Q3 2024?", [newest()], []) is None


DATED = "Acme 10-Q 2023-08-04.pdf"
COLUMNS = (
    "| | Three Months Ended August 4, 2023 | Three Months Ended July 29, 2022 |\n|---|---|---|\n| Sales | 7 | 8 |\n"
)


@pytest.mark.parametrize(
    ("named", "text", "is_missing"),
    [
        ("the third quarter of fiscal 2024", COLUMNS, True),
        ("Q4 2023", f"{COLUMNS}\nIn the second quarter of 2023, sales fell.", True),
        ("Q2 2023", COLUMNS, False),  # a fiscal year may begin in February
        ("Q2 2024", COLUMNS, False),  # or end in January
        ("the second quarter of 2023", "In the second quarter of 2023, sales fell.", False),
        ("Q4 2023", "Sales are weak.", False),
    ],
)
def test_of_a_report_that_is_called_by_a_day_the_columns_tell_the_quarters(
    named: str, text: str, *, is_missing: bool
) -> None:
    found = find_missing_period(f"What were sales in {named}?", [hit(DATED, text, [])])
    assert (found is not None) is is_missing


def test_a_report_that_is_called_by_a_day_tells_its_quarter_itself() -> None:
    missing = find_missing_period("What were sales in Q3 2026?", [hit(DATED, f"{COLUMNS}\nSales of Q2 2023 fell.", [])])
    assert missing is not None
    assert write_missing_period(missing).startswith(
        "No document that was found tells Q3 2026; the reports are of Q2 2023."
    )
    assert write_missing_period(((2026, 3), ())) == "No document that was found tells Q3 2026. Nearest:"


@pytest.mark.parametrize(
    ("question", "owner"),
    [
        ("What was Target's comparable sales growth in Q2 2023?", "Target"),
        ("How much did Orrin Mills earn?", "Orrin Mills"),
        ("What was AMD's revenue?", ""),
        ("What was the Company's revenue?", ""),
        ("What was Q2's revenue?", ""),
        ("What were sales in Peru?", ""),
    ],
)
def test_the_company_whose_figures_are_asked_for_is_known(question: str, owner: str) -> None:
    assert module.find_owner(question) == owner


@pytest.mark.parametrize(
    ("owner", "text", "is_named"),
    [
        ("Target", "We target sales of 5.", False),
        ("Target", "TARGET CORPORATION", True),
        ("Lowes", "Lowe’s sells wood.", True),
        ("Acme", "Sales fell.", True),  # its file is called so
    ],
)
def test_a_name_is_found_as_names_are_written(owner: str, text: str, *, is_named: bool) -> None:
    assert module.names_owner(owner, [hit(DATED, text, [])]) is is_named


def test_reports_are_known_by_their_names() -> None:
    assert module.is_report(hit(DATED, "", []).document)
    assert not module.is_report(hit("Lease of Halden.pdf", "", []).document)


@pytest.mark.parametrize(
    ("question", "owner"),
    [
        ("What was Okeke's Licensing revenue in Q2?", "Okeke"),
        ("What is Solberg’s RPO?", "Solberg"),
        ("What were Okeke's net sales?", "Okeke"),
    ],
)
def test_what_a_company_has_is_no_part_of_its_name(question: str, owner: str) -> None:
    assert module.find_owner(question) == owner

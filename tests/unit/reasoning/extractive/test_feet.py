"""Lines of pages and tables that answer nothing."""

import pytest

from reasoning.strategies.extractive.quoting.feet import is_foot_of_page, names_periods


@pytest.mark.parametrize(
    "text",
    [
        "Orrin Mills plc 2024 Annual Report 12",
        "Fiscal Q2 2023 Form 10-Q | 7",
        "31 | Orrin Mills Geschäftsbericht 2023/24",
        "Orrin Mills · Rapport annuel 2024 · 8",
        "Annual report 2024 | Page 7",
    ],
)
def test_a_line_with_the_name_of_the_report_and_a_number_is_the_foot_of_a_page(text: str) -> None:
    assert is_foot_of_page(text)


@pytest.mark.parametrize(
    "text",
    [
        "See the Annual Report 2024.",
        "Printing the annual report | 40",
        "The annual report of 2024 names 12 mills",
        "Form 10-Q for the quarter ended June 30, 2024",
        "Mills | 12",
    ],
)
def test_sentences_and_rows_are_no_foot(text: str) -> None:
    assert not is_foot_of_page(text)


@pytest.mark.parametrize(
    ("row", "is_header"),
    [
        ("In millions | July 30, 2023 | January 29, 2023", True),
        ("$ in thousands | 2024 | 2023 | Change", True),
        ("$ in thousands | 2024 | 13.1 | Change", False),
        (" | Six Months Ended June 30,", True),
        ("Freight | Three months ended June 30, | Six months ended June 30,", True),
        ("Term loan due | July 30, 2025 | July 30, 2026", False),
        ("Notice period | three months", False),
        ("2023 | May 12, 2024", False),
        ("In millions | 12.5 | 13.1", False),
    ],
)
def test_a_row_of_periods_without_a_label_names_columns(row: str, *, is_header: bool) -> None:
    assert names_periods(row) is is_header

"""Values under a name: cells of tables, lines, definitions, amounts and dates."""

from decimal import Decimal

import pytest

from core.documents import Chunk
from core.text.terms import split_words
from reasoning.strategies.survey.values import Amount, choose_values, find_period, list_labelled, read_amount


def passage(text: str, heading: str = "") -> Chunk:
    return Chunk(id="c", document_id="d", view_id="v", position=0, text=text, heading=heading, page=None, span=None)


def values(text: str, name: str, heading: str = "") -> list[str]:
    stems = frozenset(word.stem for word in split_words(name))
    return [found.text for found in list_labelled(passage(text, heading), stems)]


def chosen(text: str, name: str) -> list[str]:
    stems = frozenset(word.stem for word in split_words(name))
    return [found.text for found in choose_values(list(list_labelled(passage(text), stems)))]


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Supplier: Norwind GmbH\nNote: none", "supplier", ["Norwind GmbH"]),
        ("- **Supplier:** Quist", "suppliers", ["Quist"]),
        ("between Quist Pumps (the “Supplier”) and Halden (the “Customer”)", "supplier", ["Quist Pumps"]),
        ("| Part | Net price |\n|---|---|\n| A | 3 EUR |\n| B | 4 EUR |\n", "net price", ["3 EUR", "4 EUR"]),
        ("| Field | Value |\n|---|---|\n| Supplier | Quist |\n| Price | 4 EUR |\n", "supplier", ["Quist"]),
        ("We asked the supplier: nobody answered, and so on", "customer", []),
    ],
)
def test_values_under_a_name(text: str, name: str, found: list[str]) -> None:
    assert values(text, name) == found


def test_a_table_that_begins_in_another_passage_has_the_names_of_its_heading() -> None:
    rows = "| A | 3 EUR |\n| B | 4 EUR |\n"
    assert values(rows, "price", "Offer › | Part | Price |") == ["3 EUR", "4 EUR"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| Part | Price |\n|---|---|\n| A | 3 |\n| B | 4 |\n| Total | 7 |\n", ["7"]),
        ("| Part | Price |\n|---|---|\n| A | 3 |\n| B | 4 |\n", ["3", "4"]),
        ("Price: 5 EUR\n\nPrice: 5 EUR", ["5 EUR"]),
        ("Price: 5 EUR\n\nPrice: 6 EUR", []),
        ("| | 2023 | 2024 |\n|---|---|---|\n| Price | 3 | 4 |\n", []),
    ],
)
def test_which_values_are_added_up(text: str, found: list[str]) -> None:
    assert chosen(text, "price") == found


@pytest.mark.parametrize(
    ("text", "column", "amount"),
    [
        ("1,000.10 EUR", "", Amount(value=Decimal("1000.10"), unit="EUR")),
        ("$ 5", "", Amount(value=Decimal(5), unit="USD")),
        ("€1.234,50", "", Amount(value=Decimal("1234.50"), unit="EUR")),
        ("1 250,00 €", "", Amount(value=Decimal("1250.00"), unit="EUR")),
        ("1\u202f234\u202f567,50\u00a0€", "", Amount(value=Decimal("1234567.50"), unit="EUR")),
        ("300,50\u00a0EUR", "", Amount(value=Decimal("300.50"), unit="EUR")),
        ("12 34", "", None),
        ("2024 100", "", None),
        ("(1,250)", "Amount (USD)", Amount(value=Decimal(-1250), unit="USD")),
        ("-3", "", Amount(value=Decimal(-3), unit="")),
        ("0.125", "", Amount(value=Decimal("0.125"), unit="")),
        ("376.3", "Revenue (USD million)", Amount(value=Decimal("376.3"), unit="USD million")),
        ("1,5", "Mio. EUR", Amount(value=Decimal("1.5"), unit="Mio. EUR")),
        ("$5", "Revenue (USD million)", Amount(value=Decimal(5), unit="USD million")),
        ("5 EUR", "Revenue (USD million)", Amount(value=Decimal(5), unit="EUR")),
        ("12 %", "", Amount(value=Decimal(12), unit="%")),
        ("3 of 4", "", None),
        ("about 3 EUR", "", None),
        ("12.3.2026", "", None),
        ("(3", "", None),
        ("$ (347)", "", Amount(value=Decimal(-347), unit="USD")),
        ("EUR (1,234)", "", Amount(value=Decimal(-1234), unit="EUR")),
        ("(3.1)%", "", Amount(value=Decimal("-3.1"), unit="%")),
        ("$ (5) million", "", Amount(value=Decimal(-5), unit="USD million")),
        ("RFC (12)", "", None),
        ("(1) note", "", None),
        ("", "", None),
    ],
)
def test_amounts(text: str, column: str, amount: Amount | None) -> None:
    assert read_amount(text, column) == amount


@pytest.mark.parametrize(
    ("text", "year", "quarter", "month"),
    [
        ("of 2024-11-05", "2024", "2024 Q4", "2024-11"),
        ("on March 3, 2024", "2024", "2024 Q1", "2024-03"),
        ("am 12.01.2025", "2025", "2025 Q1", "2025-01"),
        ("im Dezember 2023", "2023", "2023 Q4", "2023-12"),
        ("3rd June 2020", "2020", "2020 Q2", "2020-06"),
    ],
)
def test_dates(text: str, year: str, quarter: str, month: str) -> None:
    found = find_period(text)
    assert found is not None
    assert [found.name(period) for period in ("year", "quarter", "month")] == [year, quarter, month]


def test_no_date() -> None:
    assert find_period("in 2024, or in May") is None

"""Surveys with groups and totals: by names, dates, metadata and cells, added up by code, each with its citation."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports.reasoning import Answer, AnswerRow, Question
from core.trace import Trace
from reasoning.strategies.survey import tabulation
from reasoning.strategies.survey.reasoner import Config, Survey
from retrieval.surveying import SnapshotDocumentFinder
from testing.indexed_corpus import Passage
from tests.searching import World, open_world


def invoice(n: int, supplier: str, amounts: list[str], total: str, date: str, status: str = "paid") -> Passage:
    rows = "\n".join(f"| Part {at} | {amount} |" for at, amount in enumerate(amounts))
    text = (
        f"Invoice {n}\nSupplier: {supplier}\nDate: {date}\nThis invoice is {status}.\n\n"
        f"| Item | Amount |\n|---|---|\n{rows}\n| Total | {total} |\n"
    )
    return Passage(key=f"invoices/{n}.txt", title=f"Invoice {n}", text=text)


INVOICES = [
    invoice(1, "Norwind GmbH", ["1,000.10 EUR", "0.20 EUR"], "1,000.30 EUR", "3 March 2024"),
    invoice(2, "Norwind GmbH", ["250 EUR"], "250 EUR", "2024-11-05", "unpaid"),
    invoice(3, "norwind gmbh", ["49.70 EUR"], "49.70 EUR", "12.01.2025", "unpaid"),
    invoice(4, "Quist", ["10 USD"], "10 USD", "May 2025"),
    Passage(key="invoices/5.txt", title="Invoice 5", text="Invoice 5\nThis invoice has no table. It is unpaid."),
    Passage(key="mail", title="Mail", text="Supplier: Norwind GmbH\nTotal: 99 EUR"),
]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        await opened.put(INVOICES)
        yield opened


async def survey(world: World, text: str, config: Config | None = None) -> Answer:
    asked = Survey(config or Config(), SnapshotDocumentFinder(world.backends))
    answer = await asked.answer(Question(corpus=world.corpus, text=text), Trace())
    for row in answer.table:
        cited = {citation.marker for citation in answer.citations if citation.document.key == row.key}
        assert set(row.markers) <= cited, "a row cites its own document"
    for citation in answer.citations:
        said = answer.text[citation.answer_span.start : citation.answer_span.end]
        assert said.rstrip("…").strip() in " ".join(citation.quote.split())
    return answer


def groups(answer: Answer) -> dict[str, int]:
    return {row.group: row.documents for row in answer.table if row.kind == "group"}


def totals(answer: Answer, kind: str = "total") -> list[tuple[str, str, str]]:
    return [(row.group, row.value, row.unit) for row in answer.table if row.kind == kind]


def documents(answer: Answer) -> list[AnswerRow]:
    return [row for row in answer.table if row.kind == "document"]


async def test_a_list_has_a_table_with_a_row_for_each_document(world: World) -> None:
    answer = await survey(world, "Which invoices are unpaid?")
    assert {row.key for row in answer.table} == {"invoices/2.txt", "invoices/3.txt", "invoices/5.txt"}
    assert all(row.markers and row.title.startswith("Invoice") for row in answer.table)


async def test_groups_by_a_name_that_documents_say(world: World) -> None:
    answer = await survey(world, "How many invoices are there per supplier?")
    assert answer.text.startswith("2 groups by supplier, of 5 documents of the kind “invoices”:")
    assert groups(answer) == {"Norwind GmbH": 3, "Quist": 1, "": 1}
    assert "Norwind GmbH (3 documents)" in answer.text
    assert "“Supplier: Quist”" in answer.text
    assert "Without supplier (1 document)" in answer.text


async def test_groups_of_a_condition(world: World) -> None:
    answer = await survey(world, "How many invoices are unpaid, by supplier?")
    assert groups(answer) == {"Norwind GmbH": 2, "": 1}


async def test_groups_by_dates_in_their_order(world: World) -> None:
    for period, expected in {
        "year": {"2024": 2, "2025": 2, "": 1},
        "quarter": {"2024 Q1": 1, "2024 Q4": 1, "2025 Q1": 1, "2025 Q2": 1, "": 1},
        "month": {"2024-03": 1, "2024-11": 1, "2025-01": 1, "2025-05": 1, "": 1},
    }.items():
        answer = await survey(world, f"How many invoices are there by {period}?")
        assert list(groups(answer).items()) == list(expected.items())
        assert "“Date: 3 March 2024”" in answer.text


async def test_names_that_are_in_several_documents(world: World) -> None:
    answer = await survey(world, "Which suppliers are in more than two invoices?")
    assert answer.text.startswith("1 suppliers in at least 3 of 5 documents")
    assert groups(answer) == {"Norwind GmbH": 3}
    none = await survey(world, "Which suppliers are in more than three invoices?")
    assert (none.text.splitlines()[0], none.abstained) == (
        "0 suppliers in at least 4 of 5 documents of the kind “invoices”.",
        True,
    )


async def test_totals_are_exact_by_unit_and_take_the_row_of_the_total(world: World) -> None:
    answer = await survey(world, "What is the total amount over the invoices?")
    assert totals(answer) == [("", "1300.00", "EUR"), ("", "10", "USD")]
    assert answer.text.startswith(
        "The total amount over 5 documents of the kind “invoices” is 1,300.00 EUR (3 values) and 10 USD (1 value):"
    )
    assert "“| Total | 1,000.30 EUR |”" in answer.text
    assert "no amount under this name (1): Invoice 5." in answer.text
    values = {row.key[-5]: row.value for row in documents(answer)}
    assert values == {"1": "1000.30", "2": "250", "3": "49.70", "4": "10", "5": ""}


async def test_what_is_made_of_values(world: World) -> None:
    for question, value in {
        "What is the lowest amount of the unpaid invoices?": "49.70",
        "What is the highest amount of the unpaid invoices?": "250",
        "What is the mean amount of the unpaid invoices?": "149.85",
        "What is the sum of the amounts over the unpaid invoices?": "299.70",
    }.items():
        assert totals(await survey(world, question)) == [("", value, "EUR")], question


async def test_totals_of_groups(world: World) -> None:
    answer = await survey(world, "What is the total amount over the invoices per supplier?")
    assert totals(answer, "group") == [("Norwind GmbH", "1300.00", "EUR"), ("Quist", "10", "USD"), ("", "", "")]


async def test_a_table_of_many_rows_is_added_up_and_a_row_of_several_periods_is_not(world: World) -> None:
    rows = "\n".join(f"| V-{n} | {n} EUR |" for n in range(1, 5))
    await world.put(
        [
            Passage(key="offers/list.txt", title="Offer list", text=f"| Valve | Price |\n|---|---|\n{rows}\n"),
            Passage(
                key="offers/periods.txt",
                title="Offer of periods",
                text="| | 2023 | 2024 |\n|---|---|---|\n| Price | 3 EUR | 4 EUR |\n",
            ),
        ]
    )
    answer = await survey(world, "What is the total price over the offers?")
    assert totals(answer) == [("", "10", "EUR")]
    assert "several amounts under this name, and none that is the total (1): Offer of periods." in answer.text
    assert sorted((row.kind, row.value) for row in answer.table if row.kind != "total") == [
        ("document", ""),
        *(("row", str(n)) for n in range(1, 5)),
    ]


async def test_copies_are_added_up_once(world: World) -> None:
    await world.put([Passage(key="invoices/copy.txt", title="Invoice 1", text=INVOICES[0].text)])
    assert totals(await survey(world, "What is the total amount over the invoices?"))[0][1] == "1300.00"


async def test_rows_beyond_the_limit_are_added_up_and_not_shown(world: World) -> None:
    answer = await survey(world, "What is the total amount over the invoices?", Config(rows=2))
    assert ("", "1300.00", "EUR") in totals(answer)
    assert len(documents(answer)) == 2
    assert "… and 3 more." in answer.text


async def test_values_are_looked_up_for_so_many_documents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulation, "MOST_TABULATED", 3)
    answer = await survey(world, "How many invoices are there per supplier?")
    assert len(documents(answer)) == 3
    assert "The values of 2 more documents were not looked up." in answer.text


RECHNUNGEN = [
    Passage(
        key=f"rechnungen/{n}.txt",
        title=f"Rechnung {n}",
        text=f"Rechnung {n}\nLieferant: {supplier}\nDiese Rechnung ist {status}.\n{name}: {amount}",
    )
    for n, supplier, name, amount, status in [
        (1, "Norwind", "Gesamtbetrag", "1.200,50 EUR", "bezahlt"),
        (2, "Norwind", "Rechnungsbetrag", "99,50 EUR", "offen"),
        (3, "Quist", "Summe", "300,00 EUR", "offen"),
    ]
]


async def test_totals_in_the_words_of_another_language(tmp_path: Path) -> None:
    async with open_world(tmp_path) as opened:
        await opened.put(RECHNUNGEN)
        for question, value in {
            "Wie hoch ist die Summe aller Rechnungen?": "1600.00",
            "Wie hoch sind alle Rechnungen insgesamt?": "1600.00",
            "Wie hoch ist der Durchschnitt der offenen Rechnungen?": "199.75",
            "What is the total of the invoices?": "1600.00",
            "Quelle est la somme de toutes les factures ?": "1600.00",
        }.items():
            assert totals(await survey(opened, question)) == [("", value, "EUR")], question
        highest = await survey(opened, "Was ist die höchste Rechnung?")
        assert next(row.title for row in highest.table if row.kind == "document") == "Rechnung 1"
        counted = await survey(opened, "Wie viele Lieferanten gibt es?")
        assert counted.text.startswith("2 “Lieferanten” in 3 documents:")
        by_supplier = await survey(opened, "Wie hoch ist die Summe aller Rechnungen pro Lieferant?")
        assert totals(by_supplier, "group") == [("Norwind", "1300.00", "EUR"), ("Quist", "300.00", "EUR")]

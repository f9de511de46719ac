"""Surveys of tables that list what is asked for: their rows count, meet conditions, and are grouped and added up."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.ports.reasoning import Answer, Question
from core.trace import Trace
from reasoning.strategies.survey.reasoner import Config, Survey
from retrieval.surveying import SnapshotDocumentFinder
from testing.indexed_corpus import Passage
from tests.integration.reasoning.test_survey_tables import survey, totals
from tests.searching import World, open_world

LEDGER = Passage(
    key="invoices-2024.csv",
    title="invoices-2024",
    text="Invoice: A-1001; Supplier: Norwind; Amount EUR: 10; Due: 2024-03-01; Status: paid\n"
    "Invoice: A-1002; Supplier: Quist; Amount EUR: 20; Due: 2024-11-05; Status: open\n"
    "Invoice: A-1003; Supplier: Quist; Amount EUR: 1,030; Due: 2025-01-12; Status: paid\n"
    "Invoice: A-1004; Supplier: Norwind; Amount EUR: 5; Due: 2025-02-01; Status: not paid\n",
)
STAFF = Passage(
    key="staff.md",
    title="Staff",
    text="The firm has these people.\n\n| Employee | Office | Remote |\n|---|---|---|\n| Ada Lowe | Berlin | yes |\n"
    "| Ben Moss | Paris | no |\n| Cy Noor | Berlin | no |\n| Ada Lowe | Rome | yes |\n",
)
LETTER = Passage(key="b-7", title="Invoice B-7", text="This invoice of Torre is paid.")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        await opened.put([LEDGER, STAFF])
        yield opened


def names(answer: Answer) -> list[str]:
    return [row.name for row in answer.table if row.kind == "row"]


def counts(answer: Answer) -> dict[str, int]:
    return {row.group: row.count for row in answer.table if row.kind == "group"}


NAMED = {
    "How many invoices are paid?": ["A-1001", "A-1003"],
    "Which invoices are not paid?": ["A-1004"],
    "Which invoices are unpaid?": ["A-1004"],
    "How many unpaid invoices are there?": ["A-1004"],
    "Which invoices are not unpaid?": ["A-1001", "A-1003"],
    "List all invoices of Quist": ["A-1002", "A-1003"],
    "Which invoices are over 1,000 EUR?": ["A-1003"],
    "Which invoices have an amount of less than 15?": ["A-1001", "A-1004"],
    "List the open invoices": ["A-1002"],
    "How many invoices do we have?": ["A-1001", "A-1002", "A-1003", "A-1004"],
    "How many employees are in Berlin?": ["Ada Lowe", "Cy Noor"],
    "Which employees are remote?": ["Ada Lowe"],
    "Which employees are not remote?": ["Ben Moss", "Cy Noor"],
}


async def test_rows_count_that_meet_the_condition(world: World) -> None:
    for question, expected in NAMED.items():
        answer = await survey(world, question)
        assert names(answer) == expected, question
        assert answer.text.startswith(f"{len(expected)} “")
        assert "It counts documents" not in answer.note
        assert all(row.count == 1 for row in answer.table)


async def test_what_several_rows_are_of_counts_once(world: World) -> None:
    answer = await survey(world, "How many employees are remote?")
    assert answer.text.startswith("1 “employees” in 2 rows of 1 document says this:")


async def test_rows_are_grouped_by_their_cells(world: World) -> None:
    for question, expected in {
        "How many invoices are there per supplier?": {"Norwind": (2, ""), "Quist": (2, "")},
        "How many invoices are paid, by year?": {"2024": (1, ""), "2025": (1, "")},
        "What is the total amount of the invoices per supplier?": {"Norwind": (2, "15"), "Quist": (2, "1050")},
    }.items():
        answer = await survey(world, question)
        assert {row.group: (row.count, row.value) for row in answer.table if row.kind == "group"} == expected, question


async def test_amounts_of_rows_that_meet_the_condition_are_added_up(world: World) -> None:
    for question, value in {
        "What is the total amount of the invoices?": "1065",
        "What is the total amount of the paid invoices?": "1040",
        "What is the highest amount of the open invoices?": "20",
    }.items():
        assert totals(await survey(world, question)) == [("", value, "EUR")], question


async def test_groups_with_more_than_so_many_rows(world: World) -> None:
    answer = await survey(world, "Which suppliers are in more than one invoices?")
    assert counts(answer) == {"Norwind": 2, "Quist": 2}


async def test_rows_and_documents_count_together(world: World) -> None:
    await world.put([LETTER])
    answer = await survey(world, "How many invoices are paid?")
    assert answer.text.startswith("2 “invoices” in rows of 1 document, and 1 document of the kind “invoices” say this:")
    assert [row.kind for row in answer.table] == ["row", "row", "document"]


async def test_what_the_rows_say_stands_in_the_coverage(world: World) -> None:
    answer = await survey(world, "How many employees are remote?")
    assert "4 rows of tables were read, 0 undecided" in answer.text


async def test_a_table_of_something_else_counts_as_its_document(tmp_path: Path) -> None:
    async with open_world(tmp_path) as opened:
        text = "Prices of the contract\n\n| Item | Price |\n|---|---|\n| Paper | 10 EUR |\n| Ink | 20 EUR |\n"
        await opened.put([Passage(key="contract", title="Contract with Torre", text=text)])
        answer = await survey(opened, "Which contracts have ink?")
        assert answer.text.startswith("1 document of the kind “contracts” says this:")
        assert "Documents are counted, and not the rows of their tables" in answer.text


async def ask(tmp_path: Path, passages: list[Passage], question: str) -> Answer:
    async with open_world(tmp_path) as opened:
        await opened.put(passages)
        return await survey(opened, question)


def table(title: str, header: str, *rows: str) -> Passage:
    lines = "\n".join(f"| {row} |" for row in (header, "|".join(["---"] * (header.count("|") + 1)), *rows))
    return Passage(key=f"{title.lower()}.md", title=title, text=f"{lines}\n")


FALK = "1001 | 2024-01-03 | Falk | 100.00"


async def test_copies_and_older_versions_of_a_list_count_once(tmp_path: Path) -> None:
    copy = Passage(key="copy.csv", title=LEDGER.title, text=LEDGER.text)
    answer = await ask(tmp_path, [LEDGER, copy], "How many invoices are paid?")
    assert answer.text.startswith("2 “invoices” in rows of 1 document say this:")


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        pytest.param(
            [table("Invoices", "Invoice | Amount", "A-1 | 10 EUR", "Total Tower | 20 EUR", "Gesamtsumme | 30 EUR")],
            "30",
            id="the row of the total is none, and a name with such a word is",
        ),
        pytest.param([table("Invoices", "Invoice | Amount", "A-1 | 30 EUR", "Übertrag | 30 EUR")], "30", id="Übertrag"),
        pytest.param(
            [table("Invoices", "Invoice | Amount | Surcharge", "A-1 | 100 EUR | 5 EUR", "A-2 | | 7 EUR")],
            "100",
            id="an empty amount is not taken from another column",
        ),
        pytest.param(
            [table("Invoices", "Invoice | Amount EUR", "A-1 | 2.375", "A-2 | 12.5", "A-3 | 1.001")],
            "15.876",
            id="points before three digits are read by the column",
        ),
        pytest.param(
            [
                table("Invoice list", "No. | Date | Vendor | Amount EUR", FALK, "1003 | 2024-01-09 | Falk | 50"),
                table("Invoice register", "Nr | Date | Vendor | Amount EUR", FALK, "1002 | 2024-01-04 | Moe | 250.25"),
            ],
            "400.25",
            id="the number of a list is known without the name of what it lists",
        ),
    ],
)
async def test_amounts_are_added_up_as_their_tables_mean(
    tmp_path: Path, passages: list[Passage], expected: str
) -> None:
    answer = await ask(tmp_path, passages, "What is the total amount of the invoices?")
    assert totals(answer) == [("", expected, "EUR")]


async def test_a_column_of_yes_and_no_tells_what_is_denied(tmp_path: Path) -> None:
    """No cell has the word "unpaid", and the text that has it says nothing of the rows."""
    invoices = table("Invoices", "Invoice | Amount EUR | Paid", "R-1 | 10 | yes", "R-2 | 20 | no")
    note = Passage(key="note", title="Note", text="Unpaid invoices go to the lawyers.")
    answer = await ask(tmp_path, [invoices, note], "What is the total amount over the unpaid invoices?")
    assert totals(answer) == [("", "20", "EUR")]


async def test_a_document_counts_by_no_row_if_none_of_its_rows_does(tmp_path: Path) -> None:
    passages = [table("Invoices", "Invoice | Paid", "A-1001 | no", "A-1002 | no")]
    answer = await ask(tmp_path, passages, "How many invoices are paid?")
    assert answer.abstained
    assert answer.text.startswith("0 documents")


async def test_a_word_before_the_kind_is_not_said_with_a_negation(tmp_path: Path) -> None:
    passages = [
        Passage(key="one", title="Invoice 1", text="This invoice is paid."),
        Passage(key="two", title="Invoice 2", text="This invoice is not paid."),
    ]
    answer = await ask(tmp_path, passages, "How many paid invoices do we have?")
    assert [row.key for row in answer.table] == ["one"]


async def test_the_time_of_a_survey_is_the_time_for_its_rows(tmp_path: Path) -> None:
    rows = [f"A-{n} | open" for n in range(1000, 1040)]
    async with open_world(tmp_path) as opened:
        await opened.put([table("Invoices", "Invoice | Status", *rows)])
        answer = await survey(opened, "How many invoices are open?", Config(seconds=1e-9))
    assert "the survey stopped early" in answer.text


async def test_an_invoice_in_two_tables_is_added_up_once(tmp_path: Path) -> None:
    again = table("Invoices of Norwind", "Invoice no. | Amount EUR", "A-1001 | 10", "A-1003 | 1,031", "A-1009 | 9")
    async with open_world(tmp_path) as world:
        await world.put([LEDGER, again])
        answer = await survey(world, "What is the total amount of the invoices?")
    (total,) = [row for row in answer.table if row.kind == "total"]
    assert total.value == str(10 + 20 + 1030 + 5 + 1031 + 9)
    assert "Left out, because another table has the same number with the same values: 1 row." in answer.text
    assert "Added up, although another table has the same number, with other values: 1 row." in answer.text


async def test_lines_of_one_order_and_rows_without_a_number_are_all_added_up(tmp_path: Path) -> None:
    lines = table("Order lines", "Order no. | Amount", "O-1 | 5", "O-1 | 5", "O-2 | 7")
    ledgers = [
        table(f"Invoices of {city}", "Invoice | Amount", "Norwind | 3", "Quist | 4", f"{city} Works | 5")
        for city in ("Rome", "Bonn")
    ]
    async with open_world(tmp_path) as world:
        await world.put([lines, *ledgers])
        orders = await survey(world, "What is the total amount of the orders?")
        invoices = await survey(world, "What is the total amount of the invoices?")
    values = [row.value for answer in (orders, invoices) for row in answer.table if row.kind == "total"]
    assert values == ["17", "24"]
    assert "Left out" not in orders.text + invoices.text


async def test_tables_beyond_those_that_are_listed_are_read_or_counted_as_left_out(tmp_path: Path) -> None:
    tables = [
        table(f"Invoices {city}", "Invoice no. | Amount", f"A-{city} | 2")
        for city in ("Rome", "Bonn", "Oslo", "Bern", "Nice")
    ]
    async with open_world(tmp_path) as world:
        await world.put(tables)
        answer = await survey(world, "What is the total amount of the invoices?", Config(rows=2))
    (total,) = [row for row in answer.table if row.kind == "total"]
    assert (total.value, total.count) == ("10", 5)
    assert "5 rows of tables were read" in answer.text


async def test_tables_of_undecided_documents_that_are_not_listed_are_left_out(tmp_path: Path) -> None:
    text = "| Invoice no. | Status |\n|---|---|\n| A-{0:03} | not paid |\n"
    tables = [Passage(key=f"{number}.md", title=f"List {number}", text=text.format(number)) for number in range(1, 6)]
    async with open_world(tmp_path) as world:
        await world.put(tables)
        answer = await survey(world, "How many invoices are paid?", Config(rows=2))
    assert "the tables of 3 documents were not read row by row" in answer.text


class CutTables(SnapshotDocumentFinder):
    """Each line is a passage."""

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        (chunk,) = await super().list_chunks(corpus, document_id)
        lines = chunk.text.strip().split("\n")
        return [replace(chunk, id=f"{chunk.id}{at}", position=at, text=f"{line}\n") for at, line in enumerate(lines)]


async def test_a_table_over_several_passages_is_read_with_one_decimal_sign(tmp_path: Path) -> None:
    amounts = ("2.375", "10.5", "1.125")
    text = "".join(f"Invoice: A-{at}; Amount EUR: {amount}; Paid: yes\n" for at, amount in enumerate(amounts, 1001))
    async with open_world(tmp_path) as world:
        await world.put([Passage(key="i.csv", title="Invoices", text=text)])
        asked = Survey(Config(), CutTables(world.backends))
        question = Question(corpus=world.corpus, text="What is the total amount of the invoices?")
        answer = await asked.answer(question, Trace())
    assert [row.value for row in answer.table if row.kind == "total"] == ["14.000"]


SHIPMENTS = Passage(
    key="shipments.csv",
    title="shipments",
    text="Code: S-1; Carrier: Torre; Status: late\nCode: S-2; Carrier: Torre; Status: sent\n"
    "Code: S-3; Carrier: Berg; Status: late\n",
)


async def test_rows_of_any_table_count_under_words_for_rows(tmp_path: Path) -> None:
    async with open_world(tmp_path) as opened:
        await opened.put([SHIPMENTS, Passage(key="mail", title="Mail", text="It has the status late. Torre, sent.")])
        for question, expected in {
            "How many records have the status late?": 2,
            "How many late entries are there?": 2,
            "How many rows are there?": 3,
            "How many items are not late?": 0,
            "Wie viele Zeilen nennen Torre?": 2,
            "How many carriers are there?": 2,
            "How many late shipments are there?": 2,
        }.items():
            answer = await survey(opened, question)
            assert int(answer.text.split(" ", 1)[0]) == expected, question
            assert "cannot be told" not in answer.text


async def test_what_metadata_titles_and_lines_name_is_counted(tmp_path: Path) -> None:
    pumps = [
        Passage(key=f"p{n}", title=f"Pump P-10{n}", text=f"It {did}.\nMaker: {maker}")
        for n, did, maker in [(1, "failed", "Torre"), (2, "failed twice", "Berg"), (3, "runs", "Torre")]
    ]
    sites = {"Pump P-101": "Bremen", "Pump P-102": "Bremen", "Pump P-103": "Kiel"}

    class WithSites(SnapshotDocumentFinder):
        async def get_refs(self, corpus: Corpus, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
            refs = await super().get_refs(corpus, document_ids)
            named = {id: sites[ref.title] for id, ref in refs.items() if ref.title in sites}
            return {id: replace(ref, metadata={"site": named[id]} if id in named else {}) for id, ref in refs.items()}

    async with open_world(tmp_path) as opened:
        await opened.put([*pumps, Passage(key="x", title="Pumps and valves", text="A handbook. Which ones failed?")])
        failed = await survey(opened, "How many pumps failed?")
        makers = await survey(opened, "How many makers are there?")
        asked = Survey(Config(), WithSites(opened.backends))
        by_site = await asked.answer(Question(corpus=opened.corpus, text="How many sites are there?"), Trace())
        untold = await survey(opened, "How many valves failed?")
        german = await survey(opened, "Wie viele Pumpen nennen Torre?")
        lacking = await survey(opened, "How many valves have no handbook?")
    assert failed.text.startswith("2 documents of the kind “pumps” say this:")
    assert makers.text.startswith("2 “makers” in 3 documents:")
    assert counts(makers) == {"Torre": 2, "Berg": 1}
    assert counts(by_site) == {"Bremen": 2, "Kiel": 1, "": 1}
    assert by_site.text.startswith("2 “sites” in 4 documents:")
    assert "How many “valves” there are cannot be told" in untold.text
    assert german.text.startswith("2 documents of the kind “Pumpen” say this:")
    assert "so documents are counted, and not “valves”" in lacking.text


async def test_numbers_behind_a_name_are_no_names(tmp_path: Path) -> None:
    async with open_world(tmp_path) as opened:
        await opened.put([Passage(key="f", title="Facts", text="Employees: 250\nThe firm is old.")])
        answer = await survey(opened, "How many employees are there?")
    assert "How many “employees” there are cannot be told" in answer.text

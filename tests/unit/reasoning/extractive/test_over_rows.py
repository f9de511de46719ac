"""Questions over all rows of one table: what is computed, what is said about it, and what is left to quotes."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, DocumentRef, Span
from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.ports.surveying import Candidate, Candidates, WordsAsked
from reasoning.strategies.extractive.over_rows import RowsAnswer, answer_over_rows, answering, tables
from reasoning.strategies.survey.row_judging import Cell, read_cell
from reasoning.strategies.survey.values import Amount
from testing.word_search import hit

PRICES = """Product | Category | Price (EUR) | Status
Lamp | Home | 49.50 | open
Rake | Garden | 12.00 | sold
Sofa | Home | 1,250.00 | open
Spade | Garden | 12.00 | open
Total | | 1,323.50 |
"""
RECHNUNGEN = """Rechnung: R-1; Kunde: Huber GmbH; Datum: 15.01.2024; Betrag: 1.250,00 €; Status: offen
Rechnung: R-2; Kunde: Kolb; Datum: 03.05.2024; Betrag: 80,50 €; Status: bezahlt
Rechnung: R-3; Kunde: Huber GmbH; Datum: 19.06.2024; Betrag: n. v.; Status: offen
Rechnung: R-4; Kunde: Kolb; Datum: 02.06.2024; Betrag: 100 €; Status: offen
"""
_SETTINGS = CorpusSettings(chunker="passage", extractor="pattern", fine=Fine.OFF, embedding_model="", dimension=0)
_CORPUS = Corpus(id="c", name="c", settings=_SETTINGS, generation=1, created_at=datetime(2026, 1, 1, tzinfo=UTC))


class _Finder:
    """Finds the passages of documents that are given as hits."""

    def __init__(self, hits: Sequence[Hit], passages: int = 1) -> None:
        self._hits = hits
        self._passages = passages
        self.read: list[str] = []

    async def find(self, corpus: Corpus, asked: WordsAsked, documents: frozenset[str] | None, limit: int) -> Candidates:
        found = [
            Candidate(
                document_id=id, chunk_ids=(), passages=self._passages, has_words=True, is_together=True, is_of_kind=True
            )
            for id in documents or ()
        ]
        return Candidates(documents=tuple(found))

    async def get_refs(self, corpus: Corpus, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
        return {}

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {}

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        self.read.append(document_id)
        return [hit.chunk for hit in self._hits if hit.document.id == document_id]


def _answer(question: str, *texts: str, passages: int = 1, finder: _Finder | None = None) -> RowsAnswer | None:
    hits = [hit(str(number), f"table {number}", text) for number, text in enumerate(texts)]
    found = finder or _Finder(hits, passages)
    return asyncio.run(answer_over_rows(found, Question(corpus=_CORPUS, text=question), question, hits))


def _text(question: str, *texts: str) -> str:
    """Returns the text of an answer, '' if there is none."""
    answer = _answer(question, *texts)
    return answer.text if answer else ""


def _expect(question: str, text: str, first: str, said: str = "") -> None:
    """Compares how an answer begins and what it says; '' stands for no answer."""
    told = _text(question, text)
    assert told.startswith(first)
    assert bool(told) is bool(first)
    assert said in told


@pytest.mark.parametrize(
    ("question", "first", "said"),
    [
        ("Which product has the highest price?", "Sofa: Price (EUR): 1,250.00 [1]", "Read: all 4 rows"),
        ("Which product has the second highest price?", "Lamp: Price (EUR): 49.50 [1]", "Second highest"),
        ("Which product is the cheapest?", "Rake: Price (EUR): 12.00 [1]\n\nSpade: Price (EUR): 12.00 [1]", "Lowest"),
        ("What is the total price of the products?", "Price (EUR), total: 1,323.50 (4 values)", "says the same"),
        ("What is the average price in the category Garden?", "Price (EUR), average: 12.00 (2 values)", "Garden: 2"),
        ("Which category has the highest total price?", "Home: Price (EUR), total: 1,299.50", "Highest total of"),
        ("What are the top 2 products by price?", "Sofa: Price (EUR): 1,250.00 [1]\n\nLamp", "The 2 highest"),
        ("What is the total price per category?", "Home: Price (EUR), total: 1,299.50 (2 values)", "Left out: 1 row"),
        ("How many products have status open?", "3 rows [1]", "Status: open: 3"),
        ("How many products have a price below 40?", "2 rows [1]", "Price (EUR): below 40"),
        ("What is the difference in price between Sofa and Lamp?", "Price (EUR), difference between", "1,200.50"),
    ],
)
def test_code_computes_over_all_rows(question: str, first: str, said: str) -> None:
    answer = _answer(question, PRICES)
    assert answer is not None
    assert answer.text.startswith(first)
    assert said in answer.text
    assert all(PRICES.find(citation.quote) >= 0 for citation in answer.citations)


@pytest.mark.parametrize(
    ("question", "first", "said"),
    [
        ("Welche Rechnung hat den höchsten Betrag?", "R-1: Betrag: 1.250,00 €", "not a number: 1 (“n. v.”)"),
        ("Was ist der durchschnittliche Betrag der Rechnungen von Kolb?", "Betrag, average: 90.25 EUR", "Kunde: Kolb"),
        ("Wie hoch ist der Gesamtbetrag pro Kunde in 2024?", "Huber GmbH: Betrag, total: 1,250.00", "Datum: 2024: 4"),
        ("Wie viele Rechnungen sind bezahlt?", "1 row ", "Status: bezahlt: 1"),
        ("Wie hoch ist die Summe der Rechnungen im zweiten Quartal?", "Betrag, total: 180.50 EUR", "Datum: zweiten"),
    ],
)
def test_german_questions_and_amounts_are_read(question: str, first: str, said: str) -> None:
    _expect(question, RECHNUNGEN, first, said)


def test_units_are_not_put_together() -> None:
    answer = _answer(
        "What is the total amount of the offers?", "Offer | Amount\nO-1 | EUR 5\nO-2 | USD 7\nO-3 | EUR 1\n"
    )
    assert answer is not None
    assert [(row.value, row.unit) for row in answer.table] == [("6", "EUR"), ("7", "USD")]


def test_a_column_that_no_table_has_is_declined() -> None:
    for question in ("Which product has the highest weight?", "What is the weight of the Lamp?"):
        answer = _answer(question, PRICES)
        assert answer is not None
        assert answer.abstained
        assert "is called “weight”. Its columns: Product, Category, Price (EUR), Status." in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of the Lamp?",
        "Welches Produkt mit Status offen hat den höchsten Price?",
        "What is the highest price in the contract with Quist?",
        "Which product does not have the highest price?",
        "What is the total price of the Lamp?",
        "How many days does the buyer have?",
    ],
)
def test_other_questions_are_left_to_quotes(question: str) -> None:
    assert _answer(question, PRICES) is None


def test_a_sentence_that_says_it_goes_first() -> None:
    said = "The product with the highest price is the Sofa."
    assert _answer("Which product has the highest price?", f"{said}\n\n{PRICES}") is None


def test_another_table_that_may_be_meant_is_named() -> None:
    told = _text("Which product has the highest price?", PRICES, PRICES.replace("49.50", "2,000.00"))
    assert told.startswith("Sofa")
    assert told.endswith("The question may also mean 1.")


def test_a_document_of_too_many_passages_is_refused() -> None:
    answer = _answer("Which product has the highest price?", PRICES, passages=tables.MOST_PASSAGES + 1)
    assert answer is not None
    assert answer.abstained
    assert "has more than 3,000 passages" in answer.text


def test_the_tables_of_so_many_documents_are_read() -> None:
    texts = [PRICES] * (answering.MOST_DOCUMENTS + 2)
    hits = [hit(str(number), "", text) for number, text in enumerate(texts)]
    finder = _Finder(hits)
    assert _answer("Which product has the highest price?", *texts, finder=finder) is not None
    assert len(finder.read) == answering.MOST_DOCUMENTS


def test_rows_of_another_number_of_cells_are_told() -> None:
    assert "another number of cells, or is cut: 1." in _text(
        "Which product has the highest price?", PRICES.replace("Total |", "Sofa | Home | 9\nTotal |")
    )


def _answer_in_passages(question: str, *texts: str, starts: Sequence[int] = ()) -> RowsAnswer | None:
    """Answers from one document of several passages, which begin at these places if they are known."""
    made = [hit("d", "t", text) for text in texts]
    hits = [
        replace(
            one,
            chunk=replace(
                one.chunk,
                id=f"d#{number}",
                position=number,
                heading="Item | Amount" if number and " | " in texts[0] else "",
                span=Span(start=starts[number], end=starts[number] + len(one.chunk.text)) if starts else None,
            ),
        )
        for number, one in enumerate(made)
    ]
    return asyncio.run(answer_over_rows(_Finder(hits), Question(corpus=_CORPUS, text=question), question, hits))


@pytest.mark.parametrize("starts", [(), (0, 23)])
def test_rows_that_the_next_passage_repeats_are_read_once(starts: tuple[int, ...]) -> None:
    texts = ["Item | Amount\nLamp | 1\nRake | 2", "Rake | 2\nSofa | 4"]
    answer = _answer_in_passages("What is the total of the amounts?", *texts, starts=starts)
    assert answer is not None
    assert answer.text.startswith("Amount, total: 7 (3 values)")


def test_equal_rows_of_different_places_are_read_each() -> None:
    texts = ["Item | Amount\nLamp | 1\nRake | 2", "Rake | 2\nSofa | 4"]
    answer = _answer_in_passages("What is the total of the amounts?", *texts, starts=(0, 32))
    assert answer is not None
    assert answer.text.startswith("Amount, total: 9 (4 values)")


def test_a_row_that_is_cut_between_passages_is_told() -> None:
    texts = ["Item: Lamp; Amount: 1\nItem: Rake; Amount: 2\nItem: Sofa;", "Amount: 9\nItem: Oven; Amount: 4\n"]
    answer = _answer_in_passages("What is the total of the amounts?", *texts)
    assert answer is not None
    assert "or is cut: 1." in answer.text


def test_rows_that_begin_like_totals_take_no_longer_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Cell] = []

    def count(cell: Cell) -> Amount | None:
        read.append(cell)
        return read_cell(cell)

    monkeypatch.setattr(tables, "read_cell", count)
    rows = "".join(f"Total Energies {number} | {number}.5\n" for number in range(100))
    assert "(100 values)" in _text("What is the total of the amounts?", f"Supplier | Amount\n{rows}")
    assert len(read) == 2 * 100


def test_tables_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_SECONDS", -1)
    answer = _answer("Which product has the highest price?", PRICES)
    assert answer is not None
    assert answer.abstained
    assert "tables that take too long" in answer.text


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("Item | Amount | A\nHuber | 150 | x\nKolb | 70 | y\nTotal Huber | 150 |\nTotal Kolb | 70 |\n", "220 (2"),
        ("Item | Amount\nA | 10\nB | 20\nCarried forward | 30\nBrought forward | 30\nC | 5\nTotal | 35\n", "35 (3"),
        ("Item | Kind | Amount\nTotal Energies | Energies | 5\nKolb | Energies | 7\nHuber | Gas | 1\n", "13 (3"),
    ],
)
def test_rows_of_subtotals_are_no_rows(text: str, total: str) -> None:
    _expect("What is the total amount of the items?", text, f"Amount, total: {total} values)")


def test_subtotals_are_written_in_german_and_percentages_have_no_total() -> None:
    text = "Position | Betrag\nA | 10\nB | 20\nSumme | 30\ndavon MwSt | 6\nNetto | 24\n"
    _expect("Wie hoch ist die Summe der Betrag der Position?", text, "Betrag, total: 30 (2 values)")
    _expect("What is the total discount?", "Item | Discount\nA | 5%\nB | 10%\n", "")


def test_tables_with_the_same_columns_under_their_own_lines_are_two() -> None:
    text = "".join(
        f"Year {year}:\n\n| Region | Sales |\n|---|---|\n| North | {year} |\n| South | 20 |\n\n"
        for year in (2023, 2024)
    )
    assert _answer("What are the total sales?", text) is None
    told = _text("What are the total sales in 2023?", text)
    assert told.startswith("Sales, total: 2,043 (2 values)")
    assert "“Year 2023:”" in told


ORDERS = """Order | Customer | Amount | Quantity | Date
A-1 | Huber | 100 | 20 | 2024-01-05
A-2 | Kolb | 5 | 30 | 2024-05-05
A-3 | Huber | 50 | 2 | 2024-08-05
A-4 | Huber | 7 | 50 | 2023-05-05
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many orders are over 40?", ""),
        ("What is the total amount of the orders before May 2024?", "Amount, total: 107 (2 values)"),
        ("What is the total amount of the orders from January to March 2024?", "Amount, total: 100 (1 value)"),
        ("What is the total amount of orders in the first and second quarter?", ""),
        ("How many rows have the customer Huber?", "3 rows"),
        ("What is the total number of customers?", "2 different “Customer”"),
        ("Which customer has the most orders?", "Huber: 3 rows"),
        ("What is the average number of orders per customer?", ""),
        ("What is the average amount of the orders per month?", "2023-05: Amount, average: 7"),
        ("Which month has the highest amount?", ""),
        ("What is the total amount and the average quantity of the orders?", ""),
        ("What is the total amount and quantity of the orders?", ""),
        ("What is the highest amount per quantity of the orders?", ""),
        ("What is the total amount of orders with a quantity over 10?", "Amount, total: 112 (3 values)"),
        ("How many orders have the highest amount?", ""),
    ],
)
def test_what_is_not_surely_understood_is_not_computed(question: str, first: str) -> None:
    """Of what is left open, only the time is said."""
    answer = _answer(question, ORDERS)
    assert (answer is None or answer.abstained) == (not first)
    if answer is not None:
        assert answer.text.startswith(first or "This needs all rows of 0, and it could not be decided which of them")


def test_the_group_is_chosen_among_all_groups() -> None:
    small = "".join(f"Small {number} | 1\nSmall {number} | 1\n" for number in range(60))
    text = f"Supplier | Amount\n{small}Big AG | 1000\n"
    assert _text("Which supplier has the highest total amount?", text).startswith("Big AG: Amount, total: 1,000")
    assert "(and 11 more groups)" in _text("What is the total amount per supplier?", text)
    assert "(and 55 more groups with the same value)" in _text("Which supplier has the lowest total amount?", text)


def test_numbers_of_things_are_no_amounts() -> None:
    text = "Invoice | Amount\nINV-5003 | $20.00\nINV-5004 | $5.00\n"
    assert _text("What is the sum of the invoices?", text).startswith("Amount, total: 25.00 USD")


RENTS = "Flat | Rooms | Rent\nA | 3 | 500 EUR\nB | 2 | 700 EUR (warm)\nC | 4 | approx. 900 EUR\nD | 5 | on request\n"


@pytest.mark.parametrize("question", ["What is the total rent?", "Which flat has the highest rent?"])
def test_no_other_column_is_measured_than_the_one_that_is_named(question: str) -> None:
    assert _answer(question, RENTS) is None


def test_a_cell_that_denies_the_word_is_no_condition() -> None:
    states = ("open", "paid", "not open", "re-opened", "Open", "paid")
    rows = "".join(f"R-{number} | {state} | 10\n" for number, state in enumerate(states))
    told = _text("How many open invoices are there?", f"Invoice | Status | Amount\n{rows}")
    assert told.startswith("2 rows")
    assert "Status: Open or open" in told


TASKS = """Task | Status | Paid | Active | Cost
Paint | paid | no | yes | 10
Drill | paid | yes | yes | 20
Glue | paid | no | no | 40
Sand | paid | no | yes | 80
"""


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        ("How many tasks are paid?", TASKS, "1 row "),
        ("How many active tasks are there?", TASKS, "3 rows"),
        ("What is the total cost of the active tasks?", TASKS, "Cost, total: 110 (3 values)"),
        ("Which active task has the highest cost?", TASKS, "Sand: Cost: 80"),
        ("How many active tasks are there?", TASKS.replace("no | no", "no | unknown"), ""),
    ],
)
def test_a_column_of_yes_and_no_is_a_condition(question: str, text: str, first: str) -> None:
    _expect(question, text, first)


def test_groups_are_one_whatever_their_case_and_rows_without_a_name_are_no_group() -> None:
    text = "Supplier | Amount\nAcme | 10\nacme | 20\nACME | 5\nKolb | 30\n | 90\n"
    told = _text("Which supplier has the highest total amount?", text)
    assert told.startswith("Acme: Amount, total: 35 (3 values)")
    assert "Passed over, because “Supplier” is empty: 1." in told
    assert _text("What is the total amount per supplier?", text).startswith("Acme: Amount, total: 35 (3 values)")


def test_all_rows_are_said_to_be_read_only_if_they_are() -> None:
    header = "Product | Price | Stock\n"
    rows = "Lamp | 10 | 1\nRake | 20 | 2\nSofa | 30 | 3\n"
    assert "Read: 3 rows of" in _text("What is the total price of the products?", header + rows + "Desk | 40\n")
    ragged = "Desk | 40\nBed | 50\nCot | 60\n"
    assert _answer("What is the total price of the products?", header + rows + ragged) is None


def test_rows_whose_date_is_not_understood_are_counted() -> None:
    dated = "".join(f"A-{number} | 10 | 2023-05-0{number}\n" for number in range(1, 5))
    text = f"Order | Amount | Date\n{dated}A-5 | 7 | 05/02/2023\n"
    answer = _answer("What is the total amount of the orders in May 2023?", text)
    assert answer is not None
    assert answer.text.startswith("Amount, total: 40 (4 values)")
    assert "Date: May 2023 (left out, because the date is missing or was not understood: 1): 4." in answer.text
    answer = _answer("What is the total amount of the orders in May 2023?", text + "A-6 | 7 | 2023\n")
    assert answer is not None
    assert answer.abstained


def test_amounts_of_several_units_are_not_compared() -> None:
    assert "neither converted nor compared: g, kg, mg, t." in _text(
        "Which part has the highest weight?", "Part | Weight\nA | 900 g\nB | 2 kg\nC | 1 t\nD | 500 mg\n"
    )
    assert _text("What is the total weight of the parts?", "Part | Weight\nA | 900 g\nB | 100 g\n").startswith(
        "Weight, total: 1,000 g (2 values)"
    )


def test_headers_and_totals_are_no_rows_however_they_are_written() -> None:
    text = "Article | Amount\nLamp | 10\nRake | 20\nARTICLE | AMOUNT\nSofa | 30\nTotal goods | 60\nFreight | 5\n"
    assert _text("What is the total amount of the articles?", f"{text}Grand total incl. VAT | 77\n").startswith(
        "Amount, total: 65 (4 values)"
    )
    assert "Not left out, though they may be totals: 1 (“Total goods”)." in _text(
        "What is the total amount of the articles?", text.replace("60", "59")
    )


def test_a_header_that_stands_there_again_is_said() -> None:
    text = "Article | Stock\nA | 1\nB | 2\n\n\nArticle | Stock\nC | 4\nD | 3\n"
    assert "The names of the columns stand there 2 times: these may be several tables." in _text(
        "Which article has the highest stock?", text
    )


def test_a_code_has_its_name_beside_it() -> None:
    assert _text(
        "Which article has the lowest stock?", "Article | Name | Stock\nBR-1 | Brush | 5\nBR-2 | Broom | 3\n"
    ).startswith("BR-2 (Broom): Stock: 3")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which articles have a stock below 50?", "B: Stock: 20 [1]\n\nD: Stock: 5 [1]\n\nCounted by code."),
        ("Which articles have a stock over 500?", "0 rows"),
        (
            "Which articles have a stock below their reorder level?",
            "B: Stock: 20; Reorder level: 30 [1]\n\nD: Stock: 5",
        ),
        ("Which suppliers have more than 2 articles?", ""),
    ],
)
def test_rows_of_a_comparison_are_listed(question: str, first: str) -> None:
    text = "Article | Supplier | Stock | Reorder level\nA | Kolb | 100 | 50\nB | Kolb | 20 | 30\nD | Kolb | 5 | 9\n"
    _expect(question, text, first)


def test_a_comparison_leaves_out_texts_aloud_and_does_not_compare_units() -> None:
    text = "Part | Weight\nA | 900 g\nB | 200 g\nC | unknown\n"
    told = _text("Which parts have a weight below 500?", text)
    assert told.startswith("B: Weight: 200 g")
    assert "Weight: below 500 (left out, because it is no number: 1): 1." in told
    assert _answer("Which parts have a weight below 500?", f"{text}D | 2 kg\n") is None


STAFF = """Name | Department | City | Hired | Salary (GBP) | Overtime
Ada | Sales | Leeds | 14/03/2016 | 3,000 | 6
Ben | Works | York | 02/11/2019 | 5,000 | 2
Cem | Works | Leeds | 23/06/2021 | 4,000 |
Dora | Sales | York | 01/02/2024 | 2,000 | 9
Emil | Office | Hull | 28/02/2024 | 6,000 | 1
"""


@pytest.mark.parametrize(
    ("question", "first", "said"),
    [
        ("Who earns the most?", "Emil: Salary (GBP): 6,000", "Highest"),
        ("Who was hired first?", "Ada: Hired: 14/03/2016", "Lowest “Hired”"),
        ("Who was hired in 2024?", "Dora: Hired: 01/02/2024 [1]\n\nEmil", "Hired: 2024: 2"),
        ("How many people were hired between 2019 and 2021?", "2 rows", "between 2019 and 2021: 2"),
        ("How many people do not work in Leeds?", "3 rows", "City: not Leeds: 3"),
        ("What is the total salary except for Works?", "Salary (GBP), total: 11,000", "not Works: 3"),
        ("What is the median salary?", "Salary (GBP), median: 4,000 (5 values)", ""),
        ("What share of the total salary goes to Works?", "Salary (GBP), share: 45% (9,000 of 20,000)", ""),
        ("Which department has the most people?", "Sales: 2 rows [1]\n\nWorks: 2 rows", "Highest count of rows"),
        ("Which department has the most overtime?", "Sales: Overtime, total: 15", "Highest total of"),
        ("What is the difference between the highest and the lowest salary?", "Salary (GBP), difference", "4,000"),
        ("How much more does Ben earn than Ada?", "Salary (GBP), difference between Ada", ": 2,000"),
        ("How many people earn between 3000 and 5000?", "3 rows", "between 3000 and 5000: 3"),
        ("Wie hoch ist das durchschnittliche Gehalt?", "Salary (GBP), average: 4,000", ""),
        ("Who is the oldest?", "", ""),
        ("How many people have overtime in York?", "", ""),
        ("How many people earn more than Ben?", "", ""),
        ("How many people never worked in York?", "", ""),
        ("How much is the salary?", "", ""),
        ("How many people were hired after 2019?", "3 rows", "Hired: after 2019: 3"),
        ("What percentage of people work in York?", "Share of rows: 40% (2 of 5)", ""),
    ],
)
def test_dates_exclusions_shares_and_other_words_for_columns(question: str, first: str, said: str) -> None:
    _expect(question, STAFF, first, said)


def test_dates_with_slashes_are_not_read_if_day_and_month_may_be_either() -> None:
    text = "Order | Amount | Date\nA | 5 | 03/04/2024\nB | 7 | 05/06/2024\n"
    assert _answer("What is the total amount of the orders in May 2024?", text) is None
    assert _text("What is the total amount of the orders in June 2024?", text + "C | 1 | 25/06/2024\n").startswith(
        "Amount, total: 8 (2 values)"
    )


MONTHS = """Month | Revenue | Costs
January | 10 | 8
February | 20 | 9
March | 30 | 7
Year | 60 | 24
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the total revenue?", "Revenue, total: 60 (3 values)"),
        ("What is the average revenue per month?", "Revenue, average: 20 (3 values)"),
        ("In which month were the costs lowest?", "March: Costs: 7"),
        ("What is the total revenue from February to March?", "Revenue, total: 50 (2 values)"),
        ("What is the total revenue in March 2024?", ""),
    ],
)
def test_months_are_dates_and_the_sum_of_all_rows_is_no_row(question: str, first: str) -> None:
    _expect(question, MONTHS, first)


LESSONS = "".join(
    f"{day} | {number} | {subject} | 26\n"
    for day, subjects in (("Monday", "AB"), ("Tuesday", "ABA"), ("Friday", "B"))
    for number, subject in enumerate(subjects, start=1)
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which subject has the most lessons?", "A: 3 rows [1]\n\nB: 3 rows"),
        ("Which day has the most lessons?", "Tuesday: 3 rows"),
        ("How many lessons are there on Monday?", "2 rows"),
        ("How many pupils are there on Monday?", ""),
    ],
)
def test_numbers_that_count_within_groups_are_no_amounts(question: str, first: str) -> None:
    _expect(question, f"Day | Lesson | Subject | Pupils\n{LESSONS}", first)


def test_a_table_goes_on_in_the_next_passage_though_its_header_of_two_rows_is_not_repeated() -> None:
    head = "Month | Power | Power | Gas | Gas\nMonth | Use (kWh) | Cost (€) | Use (kWh) | Cost (€)\n"
    texts = [f"{head}May | 1 | 2 | 3 | 4\nJune | 5 | 6 | 7 | 8\n", "July | 9 | 10 | 11 | 12\nAugust | 1 | 1 | 1 | 1\n"]
    hits = [hit("d", "t", text) for text in texts]
    hits = [replace(one, chunk=replace(one.chunk, id=f"d#{at}", position=at)) for at, one in enumerate(hits)]
    question = "What is the total cost of power?"
    answer = asyncio.run(answer_over_rows(_Finder(hits), Question(corpus=_CORPUS, text=question), question, hits))
    assert answer is not None
    assert answer.text.startswith("Power › Cost (€), total: 19 EUR (4 values)")


STOCK = "Stock\n\n| Item | Category | Quantity | Minimum | Paid |\n|---|---|---|---|---|\n" + "".join(
    f"| {row} |\n"
    for row in ("Paper | Office | 6 | 10 | yes", "Laptop | IT | 14 | 5 | no", "Mouse | IT | 22 | 8 | yes")
)


@pytest.mark.parametrize(
    "question",
    [
        "How many IT items are there in the stock?",
        "What is the total quantity of items in the category IT?",
        "Which items have an above average quantity?",
    ],
)
def test_a_code_that_is_a_small_word_and_a_compared_column_are_left_to_quotes(question: str) -> None:
    assert _answer(question, STOCK) is None


def test_a_column_of_yes_and_no_is_not_named_by_another_word_for_it() -> None:
    """`paid` and `spent` are both words for costs."""
    orders = STOCK.replace("Item", "Customer").replace("Quantity", "Amount")
    answer = _answer("Which customer spent the most?", orders)
    assert answer is None or "Mouse" in answer.text


def test_a_table_of_the_document_that_the_question_names_goes_first() -> None:
    """If no table of that document fits, none is meant."""
    staff = "| Name | Salary |\n|---|---|\n" + "".join(f"| N{n} | {900 + n} |\n" for n in range(5))
    payroll = staff.replace("90", "150").replace("N", "P")
    notes = "| Item | Day |\n|---|---|\n" + "".join(f"| I{n} | x{n} |\n" for n in range(5))
    question = "Who has the highest salary in the staff list?"

    def tell(*named: tuple[str, str]) -> str:
        hits = [hit(str(number), title, text) for number, (title, text) in enumerate(named)]
        answer = asyncio.run(answer_over_rows(_Finder(hits), Question(corpus=_CORPUS, text=question), question, hits))
        return answer.text if answer else ""

    assert tell(("Payroll", payroll), ("Staff list", staff)).startswith("N4")
    assert tell(("Payroll", payroll), ("Staff list", notes)) == ""


SERIES = """Rod | Series | Force (kN)
R1 | A | 5.5
R2 | A | 7.5
R3 | B | 9.5
R4 | B | 8.5
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which rod of series A had the highest force?", "R2: Force (kN): 7.5"),
        ("Which rod of series B had the lowest force?", "R4: Force (kN): 8.5"),
        ("What is the average force of series A?", "Force (kN), average: 6.5 (2 values)"),
        ("Which rod had the highest force?", "R3: Force (kN): 9.5"),
    ],
)
def test_a_letter_names_rows(question: str, expected: str) -> None:
    answer = _answer(question, SERIES)
    assert answer is not None
    assert answer.text.startswith(expected)


@pytest.mark.parametrize("question", ["Which rod of series G had the highest force?", "Which rod had force in IT?"])
def test_a_letter_that_no_row_has_is_not_left_out(question: str) -> None:
    answer = _answer(question, SERIES)
    assert answer is None or answer.abstained


LOANS = """Loan No,Tool,Status,Return date,Fee EUR
L-1,Level,returned,2026-02-10,40
L-2,Rover,on loan,2026-05-20,25
L-3,Scanner,in repair,2026-06-30,90
L-4,Level,on loan,2026-05-04,20
L-5,Drill,done,2026-03-01,10
""".replace(",", " | ")


@pytest.mark.parametrize(
    ("question", "first", "said"),
    [
        ("How many loans are on loan?", "2 rows", "Status: on loan: 2"),
        ('How many loans have the status "in repair"?', "1 row", ""),
        ("What is the total fee of the loans that are on-loan?", "Fee EUR, total: 45", "on loan: 2"),
        ("How many loans are done?", "1 row", "Status: done"),
        ("How many loans are on hold?", "", ""),
        ("How many tools are on tool?", "", ""),
        ("How many loans are to do?", "", ""),
        ("Which loan has the latest return date?", "L-3: Return date: 2026-06-30", ""),
        ("Which loans have a return date in May 2026?", "L-2: Return date: 2026-05-20 [1]\n\nL-4", "May 2026: 2"),
        ("How many loans were returned?", "1 row", "Status: returned: 1"),
        ("Which loans were returned in May 2026?", "", ""),
    ],
)
def test_a_state_is_a_condition_and_the_name_of_a_column_is_none(question: str, first: str, said: str) -> None:
    _expect(question, LOANS, first, said)


FLIGHTS = """Flight,Departure,Departure delay (min),Start date,Start salary,Range
F1,2026-05-01,10,2019-01-01,40000,7
F2,2026-06-01,0,2022-01-01,38000,9
F3,2026-04-01,45,2016-01-01,36000,8
""".replace(",", " | ")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which flight has the latest departure?", "F2: Departure: 2026-06-01"),
        ("What is the latest start date?", "F2: Start date: 2022-01-01"),
        ("What is the latest start salary?", ""),
        ("Which flight has the longest range?", "F2: Range: 9"),
        ("Which flight has the longest departure delay?", "F3: Departure delay (min): 45"),
    ],
)
def test_the_latest_is_a_date_and_no_amount(question: str, first: str) -> None:
    _expect(question, FLIGHTS, first)


def test_a_cell_of_small_words_may_be_a_condition() -> None:
    rules = "No. | Rule | Class\nK1 | Scanner | must\nK2 | Office | may\nK3 | Data | must\n"
    assert _text("How many must rules are there?", rules) == ""
    assert _text("How many rules are there?", rules).startswith("3 rows")
    assert _text("How many rules are must?", rules) == ""
    assert _text("How many rules are must rules?", rules) == ""
    assert _text("How many rules have the class may?", rules) == ""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many countries are in Asia?", "2 rows"),
        ("What is the average population?", "Population, average: 27.75"),
        ("What is the total population in Europe?", "Population, total: 68 (2 values)"),
        ("How many countries have the domain at?", ""),
        ('How many countries have "in"?', ""),
        ("What is the average population of all countries?", "Population, average: 27.75"),
    ],
)
def test_a_cell_of_small_words_is_no_condition_where_the_question_needs_the_word(question: str, first: str) -> None:
    countries = "Country,Domain,Continent,Population,Remark\nAustria,at,Europe,9,none\nIndia,in,Asia,20,all\n"
    countries += "Italy,it,Europe,59,none\nIsrael,is,Asia,23,same\n"
    _expect(question, countries.replace(",", " | "), first)


FLEET = """Vehicle,State,Next service,Service cost (EUR),Price (EUR)
Runner 5,in service,2026-05-01,300,20000
Runner 7,out of service,2026-03-01,900,15000
Walker 2,in service,2026-04-01,450,18000
""".replace(",", " | ")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How much does the Runner 5 cost?", "Runner 5: Price (EUR): 20000"),
        ("What does the vehicle Runner 5 cost?", "Runner 5: Price (EUR): 20000"),
        ("What does the service of the Runner 5 cost?", ""),
        ("What does the state of the Runner 5 cost?", ""),
        ("How much does shipping the Runner 5 cost?", ""),
        ("How much does the warranty of the Runner 5 cost?", ""),
    ],
)
def test_the_price_of_a_thing_is_no_cost_of_something_else(question: str, first: str) -> None:
    _expect(question, f"Shipping and warranty\n\n{FLEET}", first)


LAGER = """Teilenummer;Fach;Bestand;Mindestbestand
P-1;F1;4;10
P-2;F2;22;8
P-3;F3;6;6
""".replace(";", " | ")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Welches Teil hat den höchsten Bestand?", "P-2: Bestand: 22"),
        ("Which parts have a Bestand below 10?", "P-1: Bestand: 4 [1]\n\nP-3: Bestand: 6 [1]\n\nCounted"),
        ("Welche Teile sind unter dem Mindestbestand?", "P-1: Bestand: 4; Mindestbestand: 10 [1]\n\nCounted"),
        ("Which parts are below the minimum stock?", "P-1: Bestand: 4; Mindestbestand: 10 [1]\n\nCounted"),
        ("How many parts have a stock above the minimum stock?", "1 row"),
        ("Which parts have a price below the minimum stock?", ""),
        ("Which parts have a stock below the average stock?", ""),
    ],
)
def test_a_column_is_compared_with_another(question: str, first: str) -> None:
    _expect(question, LAGER, first)


def test_what_is_compared_must_be_a_column_itself() -> None:
    parts = "Article | Part | Minimum quantity | Weight (kg)\nA | 1 | 20 | 3\nB | 2 | 10 | 5\nC | 3 | 5 | 4\n"
    assert _text("Which article has a stock below its minimum?", parts) == ""
    assert _text("Which articles have a stock below 10?", parts) == ""


PRINTERS = """## Printers

| Code | Model | List price (EUR) | Service price (EUR) | Noise (dB(A)) |
|---|---|---|---|---|
| 11-1 | PX 20 | 310 | 60 | 47 |
| 11-2 | PX 35 | 640 | 95 | 51 |
| 11-3 | PX 50 | 400 | 95 | – |
"""
OPTIONS = """## Options

| Code | Option | For models | List price (EUR) |
|---|---|---|---|
| 12-1 | Tray | PX 20 | 45 |
| 12-2 | Finisher | PX 35 | 2350 |
| 12-3 | Repair of PX 35 | PX 20 | 90 |
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which model has the highest list price?", "PX 35: List price (EUR): 640"),
        ("Which model is the loudest?", "PX 35: Noise (dB(A)): 51"),
        ("Which options are more expensive than 100 euros?", "Finisher: List price (EUR): 2350 [1]\n\nCounted"),
        ("How loud is the PX 20?", "11-1 (PX 20): Noise (dB(A)): 47 [1]\n\nRead by code."),
        ("How much does the PX 35 cost?", "11-2 (PX 35): List price (EUR): 640 [1]"),
        ("How much does the PX 90 cost?", ""),
        ("How loud is the PX 50?", ""),
        ("Which model costs more than the PX 20?", ""),
        ("How many models have a price above 2000?", ""),
        ("Which model has the highest value?", ""),
        ("How wide is the PX 35?", ""),
    ],
)
def test_the_table_that_has_the_words_as_they_are_is_meant(question: str, first: str) -> None:
    told = _text(question, f"{OPTIONS}\n{PRINTERS}")
    assert told.startswith(first)
    assert bool(told) is bool(first)


BIKES = """Cargo bikes

| Feature | City 3 | Tour 7 | Cargo 9 |
|---|---|---|---|
| Weight (kg) | 21 | 27 | 38 |
| Max. load (kg) | 60 | 90 | 180 |
| Range (km) | 45 | 80 | 65 |
| Colours | red | grey | green |
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which model is the lightest?", "City 3: Weight (kg): 21 [1]"),
        ("Which model has the highest weight?", "Cargo 9: Weight (kg): 38 [1]"),
        ("Which model has the longest range?", "Tour 7: Range (km): 80 [1]"),
        ("Which models weigh more than 25 kg?", "Tour 7: Weight (kg): 27 [1]\n\nCargo 9: Weight (kg): 38 [1]"),
        ("How heavy is the Cargo 9?", "Cargo 9: Weight (kg): 38 [1]\n\nRead by code. Read: all 3 columns"),
        ("How heavy is the model Cargo 9?", "Cargo 9: Weight (kg): 38 [1]"),
        ("How heavy is the load of the Cargo 9?", ""),
        ("Which customer has the highest weight?", ""),
        ("Which model has the highest temperature?", ""),
        ("How heavy is the Cargo 11?", ""),
        ("How long is the Tour 7?", ""),
    ],
)
def test_columns_of_things_are_read_as_rows(question: str, first: str) -> None:
    _expect(question, BIKES, first)
    answer = _answer(question, BIKES)
    assert answer is None or all(citation.quote in BIKES for citation in answer.citations)


def test_columns_of_times_are_no_things() -> None:
    assert _text("Which model has the highest weight?", BIKES.replace("City 3 | Tour 7", "2023 | 2024")) == ""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the minimum stock of the bolt?", ""),
        ("What is the highest rate of the bolt?", ""),
        ("Which is the largest bolt?", ""),
        ("Which part has the highest stock?", "Nut: Stock: 50"),
    ],
)
def test_columns_that_are_measures_are_no_things(question: str, first: str) -> None:
    stock = "Part | Stock | Minimum stock | Rate\nBolt | 5 | 10 | 1.20\nNut | 50 | 20 | 0.80\nWasher | 8 | 8 | 0.10\n"
    _expect(question, stock, first)
    with_unit = stock.replace("Minimum stock | Rate", "Least | Price (EUR)")
    assert _text("Which is the largest bolt?", with_unit) == ""


def test_things_of_a_series_are_read_as_rows() -> None:
    series = BIKES.replace("City 3", "BM-320").replace("Tour 7", "BM-450").replace("Cargo 9", "BM-800")
    assert _text("Which BM model is the lightest?", series).startswith("BM-320: Weight (kg): 21 [1]")


PURCHASES = """Order No | Item | Serial No | Ordered by | Status
1001 | Chamber | SN-77812 | Ines Corvo | delivered
1002 | Cable | SN-90111 | Ines Corvo | ordered
1003 | Gloves | SN-12345 | Tor Vik | delivered
"""


@pytest.mark.parametrize(
    "question",
    [
        "What is the serial number of the chamber?",
        "What is the number of orders?",
        "How many orders did Ines Corvo make?",
    ],
)
def test_the_name_of_a_number_and_another_form_of_a_state_count_no_rows(question: str) -> None:
    assert "1 row" not in _text(question, PURCHASES)
    assert _text("How many are ordered?", PURCHASES).startswith("1 row")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many orders did Ines Corvo make?", "2 rows"),
        ("List all items covered by contract SC-17", "Chamber: Contract: SC-17 [1]\n\nGloves: Contract: SC-17 [1]"),
    ],
)
def test_what_is_counted_or_listed_is_no_state_and_is_covered_by_its_cell(question: str, first: str) -> None:
    contracts = """Order No | Item | Contract | Ordered by | Status
1001 | Chamber | SC-17 | Ines Corvo | delivered
1002 | Cable | SC-18 | Ines Corvo | ordered
1003 | Gloves | SC-17 | Tor Vik | delivered
"""
    assert _text(question, contracts).startswith(first)


def test_the_number_of_a_cost_centre_is_no_cost() -> None:
    register = "Item | Supplier | Cost centre | Total EUR\nPump | Okeke | 4711 | 120.50\nHose | Okeke | 4712 | 20.00\n"
    assert "Cost centre, total" not in _text("What is the total cost of Okeke?", register)

"""How a quoted row is written: as the cell that is asked for, if nothing else of the row is."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.answering import describe_quotes
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.reading import Reading
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from reasoning.strategies.extractive.quoting.writing import choose, cite, write, write_nearest, write_unit
from testing.word_search import hit

INCOME = """\
GBP million | Q3 2023 | Q2 2023
Revenue | 418.7 | 431.9
Gross profit | 144.3 | 151.8
Dividend per share (pence) | 5 | 4
Branches (number) | 31 | 30
"""
CHANGES = """\
 | Three Months Ended |  | Change
 | July 1, 2023 | June 25, 2022 | %
Revenue | $418 | $431 | (3)%
Costs | 200 | 210 | (5)%
Net sales:
Rolls | 60 | 50 | 20 %
Segment profit:
Rolls | 6 | 24 | (75)%
"""
SALES = "$418 (Three Months Ended July 1, 2023); $431 (Three Months Ended June 25, 2022); (3)% (Change %)"
BOTH = "Revenue: 418.7 (Q3 2023); 431.9 (Q2 2023) (table: GBP million)"
ROLLS = "Net sales, Rolls: 60 (Three Months Ended July 1, 2023); 50 (Three Months Ended June 25, 2022); 20 % (Change %)"
STAFF = "Depot | City | Lease ends\nD-01 | Rotterdam | 2027-12-31\nD-03 | Lyon | 2029-03-31\n"
RATES = "Name | Hourly rate\nOkeke | 345\nLind | 290\n"
NAMED = "EUR million: Revenue | Q1 2023: 198.4 | Q2 2023: 204.8\nEUR million: Costs | Q1 2023: 90 | Q2 2023: 91\n"
RECORDS = "Company: Tarsa; Quarter: Q1 2023; Stores: 311\nCompany: Tarsa; Quarter: Q2 2023; Stores: 318\n"


GROWTH = "Item | 2024 | 2023 | 2024\nRevenue | 9 | 8 | 12 %\nCosts | 5 | 4 | 25 %\nTax | 1 | 1 | 0 %\n"
REPEATED = (
    " | Year Ended May 1, 2024 | Year Ended May 1, 2024 | Year Ended May 1, 2023\nRolls | Rolls | 6.4 | 5.9\n"
    "Buns | Buns | 2.1 | 2.2\nTins | Tins | 1.1 | 1.2\n"
)
OF_YEARS = "Rolls: 6.4 (Year Ended May 1, 2024); 5.9 (Year Ended May 1, 2023)"


def row_of(question: str, label: str, found: Hit) -> Unit:
    return next(
        unit for unit in list_units(read_question(question, PassageCounts()), [found], 200) if label in unit.text
    )


@pytest.mark.parametrize(
    ("question", "label", "text", "written"),
    [
        ("What was the revenue in Q3 2023?", "Revenue", INCOME, "Revenue, Q3 2023: 418.7 (table: GBP million)"),
        ("What was the gross profit?", "Gross", INCOME, "Gross profit, Q3 2023: 144.3 (table: GBP million)"),
        ("How many branches were there in Q3 2023?", "Branches", INCOME, "Branches (number), Q3 2023: 31"),
        ("How did revenue change from Q2 2023 to Q3 2023?", "Revenue", INCOME, BOTH),
        ("How did the revenue of the harbour change?", "Revenue", CHANGES, f"Revenue: {SALES}"),
        ("How did the profit of rolls change?", "Rolls", CHANGES, ROLLS),
        ("How much did revenue grow in 2024?", "Revenue", GROWTH, "Revenue: 9 (2024); 8 (2023); 12 % (2024)"),
        ("What was the revenue in 2024?", "Revenue", GROWTH, "Revenue, 2024: 9"),
        ("How did rolls do?", "Rolls", REPEATED, OF_YEARS),
        ("Who has 345?", "Okeke", RATES, "Okeke | 345"),
        ("What is the hourly rate of Okeke?", "Okeke", RATES, "Okeke, Hourly rate: 345"),
        ("When does the lease in Lyon end?", "D-03", STAFF, "D-03 | Lyon | 2029-03-31"),
        ("What was Norwick's revenue in Q1 2023?", "Revenue", NAMED, "Revenue, Q1 2023: 198.4 (table: EUR million)"),
        ("How many stores had Tarsa in Q2 2023?", "Q1", RECORDS, "Company: Tarsa; Quarter: Q1 2023; Stores: 311"),
        ("How many stores had Tarsa in Q2 2023?", "Q2", RECORDS, "Company: Tarsa; Quarter: Q2 2023; Stores: 318"),
        ("What was the revenue?", "Revenue", "Revenue | 41 | 43\nCosts | 20 | 21\n", "Revenue | 41 | 43"),
    ],
)
def test_a_row_is_written_as_the_cell_that_is_asked_for(question: str, label: str, text: str, written: str) -> None:
    assert write_unit(question, row_of(question, label, hit("a", "Norwick", text))) == written


def test_a_row_that_two_statements_have_with_and_without_a_sign_is_quoted_once() -> None:
    question = "What were revenue and costs?"
    hits = [
        hit("a", "Norwick", "Revenue | $418 | $431\nCosts | 200 | 210\n"),
        hit("b", "Norwick", "Revenue | 418 | 431\n"),
    ]
    units = list_units(read_question(question, PassageCounts()), hits, 200)
    assert [unit.text for unit in choose(units, 3)] == ["Revenue | $418 | $431", "Costs | 200 | 210"]


@pytest.mark.parametrize(
    "rows", ["Tax | (12) | 5\nTax | 12 | 5\n", "Wi-Fi | ✗ | 1\nWi-Fi | ✓ | 1\n", "T | -5 °C\nT | 5 °C\n"]
)
def test_rows_that_differ_by_a_sign_of_their_values_are_two(rows: str) -> None:
    units = list_units(read_question("What are tax, Wi-Fi and T?", PassageCounts()), [hit("a", "Norwick", rows)], 200)
    assert len(choose(units, 3)) == 2


@pytest.mark.parametrize(
    "text",
    [
        " | Q1 2023 | Q2 2023\nCosts | 418 | 431\n | Q3 2023 | Q4 2023\nRevenue | 5 | 6\n",
        " | Q1 2023 | Q2 2023 | Q3 2023\nCosts | 418 | 431 | 440\nRevenue | 9\n",
    ],
)
def test_a_row_whose_columns_are_not_surely_known_stays_whole(text: str) -> None:
    question = "How did revenue change from Q1 2023 to Q2 2023?"
    row = row_of(question, "Revenue", hit("a", "Norwick", text))
    assert write_unit(question, row) == row.text


STATES = (
    "state: Vermont; violent crimes: 135.1; murder: 1.3; poverty: 11.4; urban: 17.38\n"
    "state: Texas; violent crimes: 491.4; murder: 5.4; poverty: 17.2; urban: 75.35\n"
)
ELEMENTS = """\
number | name | melting point | boiling point | density
26 | Iron | 1811 | 3134 | 7.87
79 | Gold | 1337 | 3129 | 19.3
"""
VALVES = """\
parameter | min | max | unit | note
Pressure | 2 | 12 | bar | at sea level
Temperature | -20 | 80 | °C | in the shade
"""
INVOICES = (
    "invoice: R-17; buyer: Lind; amount: 450; currency: USD; payment status: cancelled\n"
    "invoice: R-18; buyer: Okeke; amount: 90; currency: EUR; payment status: paid\n"
)
PUMPEN = "Größe | kleinste | größte | Maßeinheit | Ort\nDruck | 2 | 12 | bar | Kiel\nFluss | 20 | 80 | l/s | Ulm\n"


@pytest.mark.parametrize(
    ("question", "label", "text", "written"),
    [
        ("What is the max pressure?", "Pressure", VALVES, "parameter: Pressure | max: 12 | unit: bar"),
        (
            "What is the amount of invoice R-17?",
            "R-17",
            INVOICES,
            "invoice: R-17; amount: 450; currency: USD; payment status: cancelled",
        ),
        ("Was ist der größte Druck?", "Druck", PUMPEN, "Größe: Druck | größte: 12 | Maßeinheit: bar"),
        ("What was the murder rate of Vermont?", "Vermont", STATES, "state: Vermont; murder: 1.3"),
        ("Murder and poverty of Texas?", "Texas", STATES, "state: Texas; murder: 5.4; poverty: 17.2"),
        ("What is the melting point of iron?", "Iron", ELEMENTS, "number: 26 | name: Iron | melting point: 1811"),
        ("What is the median murder rate of Vermont?", "Vermont", STATES, STATES.splitlines()[0]),
        ("Which state has 11.4?", "Vermont", STATES, "state: Vermont; poverty: 11.4"),
        ("What do we know of Vermont?", "Vermont", STATES, STATES.splitlines()[0]),
    ],
)
def test_of_a_long_row_the_cells_that_are_asked_for_are_left(
    question: str, label: str, text: str, written: str
) -> None:
    assert write_unit(question, row_of(question, label, hit("a", "Tables", text))) == written


def test_columns_that_the_heading_names_are_known() -> None:
    found = hit("a", "Norwick", "Revenue | 418.7 | 431.9\nGross profit | 144.3 | 151.8\n")
    found = replace(found, chunk=replace(found.chunk, heading="Income › GBP million | Q3 2023 | Q2 2023"))
    question = "What was Norwick's revenue in Q2 2023?"
    assert write_unit(question, row_of(question, "Revenue", found)) == "Revenue, Q2 2023: 431.9 (table: GBP million)"


def test_the_whole_row_is_cited_and_nearest_rows_are_shown_as_they_are() -> None:
    question = "What was the revenue in Q3 2023?"
    unit = row_of(question, "Revenue", hit("a", "Norwick", INCOME))
    text, [citation] = cite(write(question, [unit]))
    assert text == "Revenue, Q3 2023: 418.7 (table: GBP million) [1]"
    assert text[citation.answer_span.start : citation.answer_span.end] == text[:-4]
    assert citation.quote == "Revenue | 418.7 | 431.9"
    labelled, [citation] = cite(write(question, [unit], "Norwick: "))
    assert labelled == f"Norwick: {text}"
    assert labelled[citation.answer_span.start : citation.answer_span.end] == text[:-4]
    assert cite(write_nearest([unit]), "Nearest:")[0] == "Nearest:\n\nRevenue | 418.7 | 431.9 [1]"


def test_a_row_whose_cells_have_their_names_is_written_as_the_cells_that_are_asked_for() -> None:
    rows = "No. | Name | Team | City | Supervisor | Since\n" + "\n".join(
        f"No.: {no} | Name: {name} | Team: Depot | City: Ulm | Supervisor: {head} | Since: 2019"
        for no, name, head in ((7, "Ada Moe", "Bo Lind"), (8, "Bo Lind", "Cy Orr"))
    )
    question = "Who supervises Ada Moe?"
    written = write_unit(question, row_of(question, "Ada Moe", hit("a", "", rows)))
    assert written == "No.: 7 | Name: Ada Moe | Supervisor: Bo Lind"


def test_a_mail_tells_who_says_me() -> None:
    mail = hit("a.eml", "Trip", "The bus leaves at six. Send your forms to me by Monday.")
    mail = replace(mail, document=replace(mail.document, metadata={"from": "Ada Moe <ada@moe.example>"}))
    question = "To whom do I send the forms?"
    units = list_units(read_question(question, PassageCounts()), [mail], 200)
    assert [(item.label, item.text) for item in write(question, units)] == [
        ("", "The bus leaves at six."),
        ("From Ada Moe: ", "Send your forms to me by Monday."),
    ]
    assert not any(item.label for item in write("When are the forms due?", units))
    text, (citation, *_) = cite(write(question, units[1:]))
    assert text == "From Ada Moe: Send your forms to me by Monday. [1]"
    assert citation.quote == "Send your forms to me by Monday."


def test_a_chosen_unit_may_be_longer_unless_it_overlaps_a_better_one() -> None:
    found = hit("a", "", "The gate is green. It was painted in May. Moss grows on it.")
    first, second, third = list_units(read_question("What is green?", PassageCounts()), [found], 200)

    def extend(unit: Unit, is_first: bool) -> Unit:
        assert is_first == (unit in (second, third))
        span = replace(unit.span, end=len(found.chunk.text))
        return replace(unit, span=span, text=found.chunk.text[span.start :])

    assert [unit.text for unit in choose([third, first], 3, extend)] == [third.text, first.text]
    assert [unit.text for unit in choose([second, third], 3, extend)] == [found.chunk.text[second.span.start :]]


def test_words_without_content_are_not_told_as_lacking() -> None:
    asked = read_question("Hi, what happens if Mr Vik keeps the car?", PassageCounts())
    note = describe_quotes(Reading(asked=asked, lacking=("Hi", "happens", "Mr", "car"), right=0.5), "Quotes.", "read")
    assert "they lack “car”. Read" in note

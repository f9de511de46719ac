"""Cells of tables in text: their values, and the names of their rows and columns."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.documents import Span
from core.passage_context import (
    TableCell,
    begins_within_table,
    find_cell,
    name_cell,
    name_columns,
    read_grids,
    split_heading,
)
from core.passage_context.tables import split_cells

REPORT = """Three Months Ended | Nine Months Ended
July 1, | June 25, | July 1, | June 25,
2023 | 2022 | 2023 | 2022
Net sales:
Products | $ | 60,584 $ | 63,355 $ | 230,901 $ | 245,241
Services | 21,213 | 19,604 | 62,886 | 58,941
Total net sales | 81,797 | 82,959 | 293,787 | 304,182

Earnings per share:
Common stock withheld related to net share settlement of equity
awards | (1,595) | (1,371) | (3,310) | (2,783)
"""
ALIGNED = """ | October 29, 2023
 | Less than 12 Months |  | Total |
 | Value | Loss | Value | Loss
Corporate debt | $2,773 | $(16) | $3,625 | $(20)
Treasury | 2,098 |  | 3,469 | (24)
"""
MARKDOWN = "Before.\n\n| Name | Hourly rate |\n|---|---:|\n| Tomas \\| Okeke | 345 |\n| Bo Lind | 290 |\n"
QUARTERS = "Company | Net income | Revenue\nTarsa | 9.1 | 102.4\nOdo | 3.1 | 55.0\n"
DAYS = (
    "EUR million | 31 Mar 2023 | 30 Sep 2023 | 31 Dec 2023\nTrade receivables | 88.1 | 96.2 | 99.4\nCash | 1 | 2 | 3\n"
)
MERGED = "Region | City | 2023 | 2024\nEurope | Oslo | 3 | 4\nEurope | Rome | 5 | 6\nAsia | Tokyo | 7 | 8\n"
BROKEN = " | Year to May | Year to May\n | 31, 2024 | 31, 2023\nSales | 70 | 60\nCost | 31 | 30\n"
PLAIN = "Stadt | Fluss\nKöln | Rhein\nWien | Donau\n"
RECORDS = "name: Ada; born: 1815; note: see: this; and that\nname: Bo; born: 1816; note: none\n"
SHEET = "Person | Rate\nPerson: Ada | Rate: 345\nPerson: Bo | Rate: 290\n"


CREW = "Post | Inspector | Share | Rate\nPump | Ada Moe | 0.5 | high\nLock | Bo Lind | 1 | low\n"


def cell(text: str, value: str, before: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """Returns the row and the column of the cell with a value that stands once in the text."""
    at = text.index(value)
    found = name_cell(text, Span(start=at, end=at + len(value)), before)
    return None if found is None else (found.row, found.column)


@pytest.mark.parametrize(
    ("text", "value", "row", "column"),
    [
        (REPORT, "60,584", "Net sales › Products", "Three Months Ended › July 1, 2023"),
        (REPORT, "304,182", "Net sales › Total net sales", "Nine Months Ended › June 25, 2022"),
        (
            REPORT,
            "(1,371)",
            "Earnings per share › Common stock withheld related to net share settlement of equity awards",
            "Three Months Ended › June 25, 2022",
        ),
        (ALIGNED, "(24)", "Treasury", "October 29, 2023 › Total › Loss"),
        (BROKEN, "60", "Sales", "Year to May 31, 2023"),
        (MARKDOWN, "345", "Tomas \\| Okeke", "Hourly rate"),
        (MERGED, "6", "Europe › Rome", "2024"),
        (MERGED, "7", "Asia", "2023"),
        (PLAIN, "Donau", "Wien", "Fluss"),
        (RECORDS, "see: this; and that", "Ada", "note"),
        (SHEET, "290", "Bo", "Rate"),
        ("Name | Rate\nBo | 290", "290", "Bo", "Rate"),
        ("Sales | 12 | 13\nCost | 14 | 15\nTax | 1 | 2", "15", "Cost", ""),
    ],
)  # fmt: skip
def test_a_cell_has_the_names_of_its_row_and_column(text: str, value: str, row: str, column: str) -> None:
    assert cell(text, value) == (row, column)


def test_a_cell_of_a_passage_within_a_table_has_the_header_of_the_passages_before() -> None:
    head, rest = REPORT.split("\nServices", 1)
    later = f"Services{rest}"
    assert cell(later, "82,959") == ("Total net sales", "")
    columns = ("Net sales › Total net sales", "Three Months Ended › June 25, 2022")
    assert cell(later, "82,959", ("Prose.", head)) == columns
    assert cell("Total | 5 | 6 | 7\nTax | 1 | 2 | 3\n", "6", ("Name | Rate\nBo | 1\nJo | 2\n",)) == ("Total", "")
    assert cell(RECORDS.splitlines()[1], "1816", (RECORDS.splitlines()[0],)) == ("Bo", "born")


def test_the_names_of_the_columns_of_a_passage_within_a_table() -> None:
    periods = " | Three Months Ended |  | Nine Months Ended\n | 2023 | 2022 | 2023 | 2022"
    head = f"Sales (in millions)\n\n{periods}\nLooms | 1 | 2 | 3 | 4"
    rest = "Expenses:\nWages | 10 | 20 | 30 | 40\n\nNet income | 5 | 6 | 7 | 8"
    columns = "| Three Months Ended 2023 | Three Months Ended 2022 | Nine Months Ended 2023 | Nine Months Ended 2022"
    names = f"in millions {columns}"
    assert name_columns(rest, ["Prose.", head]) == names
    assert name_columns(rest, ["Prose.", head.replace("(in millions)", "")]) == columns
    below = head.replace(" (in millions)", "").replace("Looms", "($ in thousands, except shares)\nLooms")
    assert name_columns(rest, ["Prose.", below]) == f"$ in thousands, except shares {columns}"
    assert begins_within_table("Sales", rest)
    between = [f"Rent {n} | {n} | 20 | 30 | 40\nTax | 10 | 20 | 30 | 40" for n in range(12)]
    assert name_columns(rest, ["Prose.", head, *between]) == names
    assert split_heading(f"Sales › {names}", rest) == ("Sales", names)


YEARS = "Name | 2023 | 2022\nBo | 1 | 2\nJo | 2 | 3"
COSTS = "Wages | 10 | 20\nRent | 1 | 2"


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Wages | 10 | 20 | 30\nRent | 1 | 2 | 3", ["Name | Rate\nBo | 1\nJo | 2"]),  # another width
        (COSTS, []),  # nothing before
        (COSTS, [YEARS, "Prose of a page. " * 30]),  # far above
        (f" | 2021 | 2020\n{COSTS}", [YEARS]),  # its own header
        (f"Table 8: Costs\n\n{COSTS}", [YEARS]),  # a title
        (f"## Costs\n\n{COSTS}", [YEARS]),  # a heading
        (COSTS, [f"{YEARS}\n\nTable 8\n"]),  # a title before
        ("Cost | 10\nRent | 1\nTax | 3", ["| Name | Age |\n|---|---|\n| Bo | 5 |\n| Jo | 6 |"]),  # another notation
        ("Cost | 10\nRent | 1\nTax | 3 | 4 | 5", [" | 2023\nBo | 1 | 2 | x\nJo | 2 | 3 | x"]),  # rows of several widths
        # the last column has no name
        (" | 1 | x\n | 2 | x\n | 3 | x | y\nBo | 1 | x | y\nBo | 1 | x | y", [" | 2023 | 2022\nBo | 1 | 2 | x"]),
        # very many columns
        (" | ".join("1" * 400), [" | A | B | C\n" + " | ".join(["", *"abc" * 133]) + "\n" + " | ".join("1" * 400)]),
        ("Prose without a row.", [YEARS]),
        ("", [YEARS]),
    ],
)
def test_where_no_header_is_sure_the_columns_have_no_names(text: str, before: list[str]) -> None:
    assert not name_columns(text, before)


def test_lines_of_a_broken_header_are_no_rows_of_another_width() -> None:
    head = "Three Months Ended | Nine Months Ended\nOctober | October\n29, | 30,\n | 2023 | 2022 | 2023 | 2022"
    names = name_columns("Looms | 1 | 2 | 3 | 4\nPumps | 5 | 6 | 7 | 8", [head])
    assert [name.split()[:2] for name in split_cells(names)[1::2]] == [["Three", "Months"], ["Nine", "Months"]]


def test_a_title_that_says_that_the_table_goes_on_is_above_the_same_table() -> None:
    assert name_columns(f"Table 8 (continued)\n\n{COSTS}", [YEARS]) == "Name | 2023 | 2022"


@pytest.mark.parametrize("end", ["\u2028", "\r", "\x0b", "\x0c", "\x1c", "\x85"])
def test_other_ends_of_lines_in_a_header_make_no_rows_of_it(end: str) -> None:
    head = f"Name | Net{end}sales | Tax{end}rate\nBo | 1 | 2\nJo | 2 | 3\nLi | 3 | 4"
    assert cell(head, "4") == ("Li", "Tax rate")
    assert name_columns("Wages | 10 | 20\nRent | 1 | 2", [head]) == "Name | Net sales | Tax rate"


def test_the_names_are_read_back_as_they_are() -> None:
    parts = ["", "A", "2023", "B |", "\\|", "| C", "›", "a › b"]
    rows = "\n".join("x | 1 | 2" for _ in range(3))
    for names in permutations(parts, 3):
        columns = name_columns(rows, [f"{' | '.join(names)}\n{rows}"])
        heading = f"Costs › {columns}"
        assert not columns or split_heading(heading, rows) == ("Costs", columns)
        assert not columns or len(split_cells(columns)) == 3


def test_passages_that_do_not_begin_within_a_table() -> None:
    rows = "Wages | 10 | 20\nRent | 1 | 2\nTax | 3 | 4"
    assert begins_within_table("", rows)
    assert begins_within_table("", f"Expenses:\n\n{rows}")
    assert not begins_within_table("Costs › Name | 2023 | 2022", rows)
    assert not begins_within_table("", f"Name | 2023 | 2022\n{rows}")
    assert not begins_within_table("", f"This sentence ends the page before.\n{rows}")
    assert not begins_within_table("", "Prose.")


def test_a_quote_is_about_the_cell_whose_value_the_answer_states() -> None:
    row = "Total net sales | 81,797 | 82,959 | 293,787 | 304,182"
    start = REPORT.index(row)
    quote = Span(start=start, end=start + len(row))

    def value(words: str) -> str | None:
        found = find_cell(REPORT, quote, words)
        return found.value if found else None

    assert value("Sales were $82,959 million") == "82,959"
    assert value("They rose from 82,959 to 81,797") == "82,959"
    assert value("293787 million") == "293,787"
    assert value("It rose") is None
    at = REPORT.index("19,604")
    spot = Span(start=at, end=at + 6)
    inside = find_cell(REPORT, spot, "nothing of it")
    period = "Three Months Ended › June 25, 2022"
    assert inside == TableCell(row="Net sales › Services", column=period, value="19,604", span=spot)
    at = PLAIN.index("Wien | Donau")
    only = find_cell(PLAIN, Span(start=at, end=at + 12))
    assert only is not None
    assert (only.row, only.column, only.value) == ("Wien", "Fluss", "Donau")
    row = TRIPS.splitlines()[0]
    assert find_cell(TRIPS, Span(start=0, end=len(row)), row, (), "Who travelled to Nantes?") is None


def test_parts_of_a_table_side_by_side_have_their_own_labels() -> None:
    text = "State | Rate | State | Rate\nHawaii | 123 | Oregon | 130\nIdaho | 120 | Utah | 111\n"
    for row, value in (("Hawaii", "123"), ("Oregon", "130"), ("Utah", "111")):
        assert cell(text, value) == (row, "Rate")
    row = "Hawaii | 123 | Oregon | 130"
    start = text.index(row)
    asked = find_cell(text, Span(start=start, end=start + len(row)), row, (), "What is the rate of Oregon?")
    assert asked is not None
    assert (asked.row, asked.value) == ("Oregon", "130")


def test_prose_and_headers_have_no_cells() -> None:
    assert find_cell("A sentence: it has 345 words; none is a cell.", Span(start=0, end=20), "345") is None
    assert cell(MARKDOWN, "Hourly rate") is None
    assert read_grids("") == []


@given(st.text(alphabet="ab1|:; \n-$\\", max_size=300), st.integers(0, 300), st.integers(0, 40))
def test_any_text_has_cells_in_their_places(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    span = Span(start=start, end=min(len(text), start + length))
    for grid in read_grids(text):
        for row in grid.rows:
            assert grid.start <= row.start < row.end <= grid.end
            assert all(row.start <= a <= b <= row.end for a, b in row.cells)
    found = find_cell(text, span, "a 1 b")
    if found is not None:
        assert text[found.span.start : found.span.end] == found.value
    assert find_cell(text, span, "a 1 b", (text, text)) is None or found is not None


@pytest.mark.parametrize("signs", ["$ | $", "€ | €", "| $ | $ |"])
def test_a_row_of_signs_of_currency_is_a_row(signs: str) -> None:
    assert cell(f"Item | 2023 | 2022\n{signs}\nSales | 5 | 6\nCosts | 7 | 8\n", "8") == ("Costs", "2022")


INVOICE = """Pos | Description | Qty | Unit price | Amount
1 | Bilge pump overhaul | 2 | 640.00 | 1280.00
2 | Travel expenses | 1 | 210.00 | 210.00
 |  |  | Net total | 1490.00
 |  |  | VAT 19 % | 283.10
 |  |  | Total due | 1773.10
"""
TRIPS = """Employee: Mirja Aalto | Trip: Nantes | Days: 3 | Per diem: 44 | Hotel: 315 | Total: 447
Employee: Jonas Petri | Trip: Bergen | Days: 4 | Per diem: 51 | Hotel: 480 | Total: 684
"""
LEDGER = """No.: 2025-0089; Date: 09.08.2025; Account: 4630 Gifts; Payee: Prüm; Booked EUR: 452,75
No.: 2025-0090; Date: 10.08.2025; Account: 4920 Phone; Payee: Telco; Booked EUR: 58,20
"""
RATINGS = "Symbol | Min | Typ | Max | Unit\nDropout | 55 | 245 | 400 | mV\nNoise | 4 | 5 | 6 | uV\n"
SHEET_OF_DATA = "Parameter | Value | Unit\nBattery runtime | 10 | h\nWeight | 2.1 | kg\n"
TRAINING = "Name | Fire safety | Hygiene\nBruno Costa | yes | no\nAda Lind | no | yes\n"
CHANGES = (
    "EUR k | 2025 | 2024 | Change | %\nStaff costs | (142,660) | (139,480) | (3,180) | 2.3\nRent | 5 | 4 | 1 | 25.0\n"
)
ORDER = "Item | Qty | Unit price | Total\nGloves | 400 | 6.85 | 2,740.00\nMasks | 30 | 2.10 | 63.00\n"
PERIODS = "EUR thousand | 2024 | 2023\nRevenue | 15,874 | 14,210\nNet income | 1,149 | 871\n"
DRAWN = """   The kinds are:

   +-------+--------+------------------------------+
   | Value | Kind   | Meaning                      |
   +-------+--------+------------------------------+
   | 0x01  | HELLO  | The sensor begins.           |
   +-------+--------+------------------------------+
   | 0x0B  | RESYNC | The collector asks for state |
   +-------+--------+------------------------------+

   +-+-+-+-+-+-+-+-+
   | Type | Length |
   +-+-+-+-+-+-+-+-+
"""


@pytest.mark.parametrize(
    ("text", "row", "question", "column", "value"),
    [
        (TRIPS, 0, "How much did Mirja Aalto's trip to Nantes cost?", "Total", "447"),
        (TRIPS, 1, "How many days was Jonas Petri in Bergen?", "Days", "4"),
        (TRAINING, 1, "Has Bruno Costa done hygiene training?", "Hygiene", "no"),
        (CHANGES, 1, "What were the staff costs in 2024?", "2024", "(139,480)"),
        (CHANGES, 1, "By what percentage did staff costs change?", "%", "2.3"),
        (ORDER, 1, "How many gloves were ordered?", "Qty", "400"),
        (ORDER, 1, "How much do the gloves cost?", "Total", "2,740.00"),
        (LEDGER, 0, "How much did we spend at Prüm?", "Booked EUR", "452,75"),
        (LEDGER, 0, "When was Prüm paid?", "Date", "09.08.2025"),
        (LEDGER, 1, "To which account does 2025-0090 belong?", "Account", "4920 Phone"),
        (RATINGS, 1, "What is the typical dropout?", "Typ", "245"),
        (RATINGS, 1, "What is the maximum dropout?", "Max", "400"),
        (PERIODS, 1, "What was the revenue?", "2024", "15,874"),
        (INVOICE, 3, "What is the net total?", "Amount", "1490.00"),
        (SHEET_OF_DATA, 1, "What is the battery runtime?", "Value", "10"),
        (QUARTERS, 1, "What were the net sales in 2023?", "Revenue", "102.4"),
        (DAYS, 1, "What were the trade receivables at the end of 2023?", "31 Dec 2023", "99.4"),
        (DAYS, 1, "What were the receivables in September 2023?", "30 Sep 2023", "96.2"),
    ],
)
def test_of_a_row_quoted_whole_the_cell_is_what_the_question_asks_for(
    text: str, row: int, question: str, column: str, value: str
) -> None:
    lines = text.splitlines(keepends=True)
    at = sum(map(len, lines[:row]))
    words = lines[row].strip("\n")
    found = find_cell(text, Span(start=at, end=at + len(words)), words, (), question)
    assert found is not None
    assert (found.column, found.value) == (column, value)


def test_the_label_of_a_sum_may_stand_in_any_column() -> None:
    assert cell(INVOICE, "1773.10") == ("Total due", "Amount")
    assert cell("Region | City | 2023\nEurope | Oslo | 3\n | Rome | 5\n", "5") == ("Europe › Rome", "2023")
    text = "Pos | Description | Amount\n1 | Pump | 5.00\n2 | Seal | 7.00\n | Total credit | 12.00\n"
    assert cell(text, "12.00") == ("Total credit", "Amount")


_RULE = "+-------+-----------+\n"
_NAMES = "| Host  | Owner of  |\n|       | the host  |\n"


@pytest.mark.parametrize("below", [_RULE, ""])
@pytest.mark.parametrize("values", ["words", "amounts"])
def test_the_later_passages_of_a_drawn_table_have_the_names_of_its_columns(below: str, values: str) -> None:
    rows = [f"| host{n} | {'Okeke' + chr(97 + n) if values == 'words' else 345 + n}    |\n{below}" for n in range(12)]
    parts = (_RULE + _NAMES + _RULE + "".join(rows[:4]), "".join(rows[4:8]), "".join(rows[8:]))
    passages = [part.strip() for part in parts]
    for number, passage in enumerate(passages):
        for n in range(4 * number, 4 * number + 4):
            value = f"Okeke{chr(97 + n)}" if values == "words" else str(345 + n)
            assert cell(passage, value, tuple(passages[:number])) == (f"host{n}", "Owner of the host")
    own = cell(passages[1], "Okekef" if values == "words" else "350")
    assert own is None or own[1] in ("", "Okekee"), "the passage alone does not tell"
    row = rows[4].splitlines()[0]
    found = find_cell(passages[1], Span(start=0, end=len(row)), row, passages[:1], "Who owns host4?")
    assert found is not None
    assert (found.row, found.column) == ("host4", "Owner of the host")


def test_a_drawn_table_of_its_own_does_not_go_on_from_the_passage_before() -> None:
    before = f"{_RULE}{_NAMES}{_RULE}| host1 | Okeke |\n{_RULE}"
    text = f"{_RULE}| Port  | Protocol  |\n{_RULE}| p80   | http      |\n{_RULE}"
    assert cell(text, "http", (before,)) == ("p80", "Protocol")


@pytest.mark.parametrize(
    "text",
    [
        " host  | owner\n-------+-------\n h1    | Bo\n h2    | Li\n(2 rows)\n",
        "| host  | owner |\n|-------+-------|\n| h1    | Bo    |\n| h2    | Li    |\n",
        "+-----+-----+\n| host | owner |\n+=====+=====+\n| h1 | Bo |\n+-----+-----+\n| h2 | Li |\n+-----+-----+\n",
    ],
)
def test_tables_of_databases_of_org_and_of_restructured_text(text: str) -> None:
    assert (cell(text, "Bo"), cell(text, "Li")) == (("h1", "owner"), ("h2", "owner"))


def test_the_rules_of_a_drawn_table_are_no_rows() -> None:
    assert cell(DRAWN, "The collector asks for state") == ("0x0B", "Meaning")
    assert cell(DRAWN, "Length") == ("Type", "")  # a diagram of a packet has no names of columns
    assert [len(grid.rows) for grid in read_grids(DRAWN)] == [2, 1]


def test_a_table_with_a_header_does_not_go_on_from_the_passage_before() -> None:
    text = "Item | Part no. | Quantity\nImpeller | CP80-210 | 1\nWear ring | CP80-214 | 2\n"
    before = ("Code | Meaning | Remedy\nE01 | Motor overload | Reduce flow\nE04 | Dry run | Fill the line",)
    at = text.rindex("2")
    found = name_cell(text, Span(start=at, end=at + 1), before)
    assert found is not None
    assert (found.row, found.column, found.span.start) == ("Wear ring", "Quantity", at)


def test_rows_that_name_their_cells_are_no_header() -> None:
    rows = [f"Article: FX-{n} | Kind: nut | Price up to 499: {n}.5 | Price from 500: {n}.2" for n in range(133, 137)]
    assert cell("\n".join(rows), "134.2") == ("FX-134", "Price from 500")


def test_a_number_before_the_label_is_not_the_whole_label() -> None:
    text = "Line | Item | Base | Tax\n20 | Supplies | 412,300 | 78,337\n45 | Payable |  | 47,118\n"
    assert cell(text, "47,118") == ("45 › Payable", "Tax")
    text = "Pin: 6 | Signal: E-STOP B | Colour: grey\nPin: 7 | Signal: E-STOP A | Colour: red\n"
    assert cell(text, "grey") == ("6 › E-STOP B", "Colour")


def test_rows_that_name_their_cells_have_the_names_of_the_header_before() -> None:
    head = "Item | First half | \nItem | Sales | Stock\nItem: a | First half Sales: 1 | Stock: 2\n"
    text = "Item: b | First half Sales: 3 | Stock: 4\nItem: c | First half Sales: 5 | Stock: 6\n"
    assert cell(text, "3") == ("b", "First half Sales")
    assert cell(text, "3", (head,)) == ("b", "First half › Sales")


def test_the_foot_of_a_page_names_no_columns() -> None:
    text = "Sutura SpA, prices net | Page 2\nQA-1055 | 12.40\nQA-1060 | 13.10\n"
    assert cell(text, "13.10") == ("QA-1060", "")


@pytest.mark.parametrize("end", ["| \n", "| ", "|  |\n", "| \r\n", "||\n", "| | |\n", "+---+\n"])
def test_a_row_without_any_word_is_no_fault(end: str) -> None:
    text = f"| Name | Rate |\r\n|---|---|\r\n| Bo | 5 |\r\n{end}"
    assert cell(text, "5") == ("Bo", "Rate")
    find_cell(text, Span(start=0, end=len(text)), "5", (text,), "rate")


def test_a_rule_far_below_the_first_rows_makes_them_no_header() -> None:
    rows = "".join(f"| Item {number} | {number}00 |\n" for number in range(1, 12))
    text = f"| Name | Rate |\n{rows}|---|---|\n| Total | 6600 |\n"
    assert cell(text, "300") == ("Item 3", "Rate")
    assert cell(text, "6600") == ("Total", "Rate")


@given(
    st.lists(
        st.sampled_from(
            ["|", " | ", "| ", "\n", "\r\n", "---", "+--+--+", "a", "Rate: ", "; ", ": ", "5", "\u0663", "\u00b2",
             "\u05d0", "\u540d", "> ", "$ ", "\\|", "\u2028", "\x1c", "\u200f", "Total", "2024", "(In millions)"]
        ),
        max_size=60,
    ),
    st.integers(0, 40),
)  # fmt: skip
def test_no_text_is_a_fault(parts: list[str], cut: int) -> None:
    text = "".join(parts)
    for before in ((), (text[cut:],)):
        found = find_cell(text, Span(start=0, end=len(text)), "5 a Total", before, "Rate of a total 2024")
        if found is not None:
            assert found.value == text[found.span.start : found.span.end]
            assert name_cell(text, found.span, before) == found


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many posts have Ada Moe as inspector?", ""),
        ("Who inspects the pump?", ""),
        ("How many shares has the post with the inspector Ada Moe?", "0.5"),
        ("Who is the inspector of the pump?", "Ada Moe"),
    ],
)
def test_a_row_that_is_counted_or_names_a_person_is_not_told_by_another_number(question: str, value: str) -> None:
    at = CREW.index("Pump")
    row = Span(start=at, end=CREW.index("\n", at))
    found = find_cell(CREW, row, CREW[row.start : row.end], [], question)
    assert (found.value if found else "") == value


def test_the_years_of_a_header_stand_below_their_days() -> None:
    text = (
        " | August 4, | August 4,\n(In millions) | 2023 | July 29, 2022 | 2023 | July 29, 2022\nWool | 5 | 6 | 7 | 8\n"
    )
    assert read_grids(text)[0].columns[1:] == ("August 4, 2023", "July 29, 2022", "August 4, 2023", "July 29, 2022")
    text = " | May 2, | May 3,\nASSETS | 2024 | 2023 (1)\nWool | 5 | 6\nFelt | 7 | 8\n"
    assert read_grids(text)[0].columns[1:] == ("May 2, 2024", "May 3, 2023 (1)")
    text = " | May 2, | May 3,\nWool | 2024 | 6\nFelt | 7 | 8\n"
    assert read_grids(text)[0].columns[1:] == ("May 2,", "May 3,")
    text = " | June 3, | June 3,\n | 2024 | 2023 (As Restated) | 2024 | 2023 (As Restated)\nWool | 5 | 6 | 7 | 8\n"
    assert read_grids(text)[0].columns[2] == "June 3, 2023 (As Restated)"

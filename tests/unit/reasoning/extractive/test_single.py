"""Which value a question for one value of one report is answered with, and what is left to quotes."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_periods.series import asks_for_series
from reasoning.strategies.extractive.over_periods.writing import write_series
from tests.unit.reasoning.extractive.test_series import QUARTERS, TURNOVER, ask, hit, report, tell

NEWEST_FIRST = [report(quarter) for quarter in ("2023 Q2", "2023 Q1", "2022 Q4")]


@pytest.mark.parametrize("quarter", QUARTERS)
async def test_the_value_of_the_named_report_is_told_with_its_own_period(quarter: str) -> None:
    year, number = quarter.split()
    hits = sorted(NEWEST_FIRST, key=lambda found: not found.document.key.startswith(quarter))
    told = await tell(f"What was the revenue of Okeke Ferries in {number} {year}?", hits)
    assert told == f"Revenue, three months ended {QUARTERS[quarter]}: ${TURNOVER[quarter]} million [1]"


async def test_the_newest_report_is_meant_by_the_latest_quarter() -> None:
    for asked in ("For the latest quarter, how much were", "In the most recent quarter, what were"):
        told = await tell(f"{asked} the net sales of Okeke Ferries?", NEWEST_FIRST)
        assert told == "Revenue, three months ended June 30, 2023: $1,340 million [1]"


async def test_a_length_that_the_question_says_is_taken() -> None:
    told = await tell("What was revenue in the first nine months, as reported in the latest report?", NEWEST_FIRST)
    assert told == "Revenue, nine months ended June 30, 2023: $3,000 million [1]"


async def test_the_citation_is_the_row() -> None:
    series = await ask("What was the revenue of Okeke Ferries in Q2 2023?", NEWEST_FIRST)
    assert series is not None
    (citation,) = write_series("", series)[1]
    assert citation.quote.startswith("| Revenue | $900 | $1,340")
    assert citation.document.key == "2023 Q2 Okeke Ferries.md"


async def test_a_second_clause_is_known_to_be_left() -> None:
    series = await ask("What was revenue in Q2 2023, and what drove it?", NEWEST_FIRST)
    assert series is not None
    assert series.is_cut
    assert series.is_single


@pytest.mark.parametrize(
    "question",
    [
        "What drove revenue in Q2 2023?",
        "What was revenue in Q2 2021?",
        "What was the revenue of Solberg Mills in Q2 2023?",
        "What was revenue before Q2 2023?",
        "What was revenue growth in Q2 2023?",
        "Which ferries were sold in Q2 2023?",
        "What was revenue?",
        "What was revenue in 2023?",
        "What was revenue in the three months ended March 31, 2023, as reported in the Q2 2023 report?",
        "What was the adjusted revenue in Q2 2023?",
        "What was the definition of revenue in Q2 2023?",
        "How many months of revenue are in the latest report?",
        "What was the highest revenue in Q2 2023?",
        "What was the revenue in percent of costs in Q2 2023?",
        "What was the revenue of Okeke Ferries in Europe in Q2 2023?",
        f"What was revenue in Q2 2023 {'and so on ' * 200}?",
    ],
)
async def test_other_questions_have_no_single_value(question: str) -> None:
    assert await tell(question, NEWEST_FIRST) == ""


async def test_a_table_that_names_no_period_answers_nothing() -> None:
    key = "2023 Q2 Okeke Ferries.md"
    unnamed = hit(
        key,
        "Revenue (in millions)\n\n| | | |\n|---|---|---|\n| Revenue | 1,340 | 1,180 |\n",
        ["2023 Q1 Okeke Ferries.md"],
    )
    assert await tell("What was revenue in Q2 2023?", [unnamed]) == ""


@pytest.mark.parametrize(("others", "told"), [([], "Revenue, "), (["1,340"], "Revenue, "), (["95", "96"], "")])
async def test_a_value_that_other_tables_do_not_have_is_left_to_quotes(others: list[str], told: str) -> None:
    note = "Notes (in millions)\n\n| | | |\n|---|---|---|\n| Revenue | {} | 77 |\n"
    key = "2023 Q2 Okeke Ferries.md"
    hits = [hit(key, note.format(value), ["2023 Q1 Okeke Ferries.md"]) for value in others]
    hits = [replace(found, chunk=replace(found.chunk, id=f"n{n}")) for n, found in enumerate(hits)]
    answer = await tell("What was revenue in Q2 2023?", [NEWEST_FIRST[0], *hits])
    assert answer[: len("Revenue, ")] == told


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Wie hoch war der Umsatz im dritten Quartal 2023?", True),
        ("Quel était le chiffre d'affaires au deuxième trimestre 2023 ?", True),
        ("In the first quarter of 2023, how much did it spend?", True),
        ("What effective tax rate did the company report in its latest filing, and why?", True),
        ("How has revenue changed over time?", True),
        ("What was revenue?", False),
        ("Who signed the report of Q2 2023?", False),
    ],
)
def test_questions_for_values_are_known(question: str, is_asked: bool) -> None:
    assert asks_for_series(question) is is_asked


def versions_of(text: str) -> list[Hit]:
    return [hit("2023 Q2 Okeke Ferries.md", text, ["2023 Q1 Okeke Ferries.md"])]


async def test_what_is_expected_is_no_value_of_the_report() -> None:
    table = "Figures (in millions)\n\n| | {} |\n|---|---|\n| Revenue | $9,999 |\n"
    asked = "What was revenue in Q2 2023?"
    assert await tell(asked, versions_of(table.format("Q3 2023 Outlook"))) == ""
    assert await tell(asked, versions_of(table.format("Price from 1 July 2023"))) == ""
    assert await tell(asked, versions_of(table.format("Q2 2023"))) == "Revenue, Q2 2023: $9,999 million [1]"


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("$ (410)", "Net income, Q2 2023: $ (410) million [1]"),
        ("(410)", "Net income, Q2 2023: (410) million [1]"),
        ("—", ""),
        ("n/m", ""),
        ("", ""),
    ],
)
async def test_the_year_before_is_no_answer_where_the_own_period_has_a_loss_or_no_amount(own: str, told: str) -> None:
    table = f"Results (in millions)\n\n| | Q2 2023 | Q2 2022 |\n|---|---|---|\n| Net income | {own} | $ 1,760 |\n"
    other = "\n| | Q2 2022 |\n|---|---|\n| Net income | $ 1,760 |\n"
    for text in (table, table + other):
        assert await tell("What was net income in Q2 2023?", versions_of(text)) == told


async def test_an_amount_of_the_own_period_stands_beside_a_plan_without_one() -> None:
    table = "Results (in millions)\n\n| | Q2 2023 | Plan Q3 2023 |\n|---|---|---|\n| Net income | $1,760 | n/a |\n"
    told = await tell("What was net income in Q2 2023?", versions_of(table))
    assert told == "Net income, Q2 2023: $1,760 million [1]"


LOSS = "Results (in millions)\n\n| | Q2 2023 | Q2 2022 |\n|---|---|---|\n| Net income | $ (410) | $ 1,760 |\n"


@pytest.mark.parametrize(
    "question",
    [
        "Did Okeke Ferries make a profit in Q2 2023?",
        "Has Okeke Ferries reported a net loss for Q2 2023?",
        "Was Okeke Ferries profitable in Q2 2023?",
        "How much profit did Okeke Ferries make in Q2 2023?",
        "What was the net loss of Okeke Ferries in Q2 2023?",
        "Hat Okeke Ferries im 2. Quartal 2023 Gewinn gemacht?",
    ],
)
async def test_a_profit_or_a_loss_is_the_net_income(question: str) -> None:
    assert await tell(question, versions_of(LOSS)) == "Net income, Q2 2023: $ (410) million [1]"


@pytest.mark.parametrize(
    "question",
    [
        "Did Okeke Ferries make a profit from the sale of its berths in Q2 2023?",
        "Did Okeke Ferries make a profit warning in Q2 2023?",
        "Was Okeke Ferries a member of the harbour board in Q2 2023?",
        "Did Okeke Ferries make an offer in Q2 2023?",
    ],
)
async def test_a_profit_of_something_else_is_left_to_quotes(question: str) -> None:
    assert await tell(question, versions_of(LOSS)) == ""


@pytest.mark.parametrize("day", ["December 31, 2022", "March 31, 2023", "June 30, 2023"])
async def test_a_day_tells_which_report_is_meant(day: str) -> None:
    (quarter,) = [quarter for quarter, end in QUARTERS.items() if end == day]
    told = await tell(f"What was the revenue of Okeke Ferries in the quarter ended {day}?", NEWEST_FIRST)
    assert told == f"Revenue, three months ended {day}: ${TURNOVER[quarter]} million [1]"


async def test_a_day_that_no_report_ends_with_has_no_value() -> None:
    for day in ("March 31, 2021", "May 31, 2023"):
        assert await tell(f"What was the revenue of Okeke Ferries in the quarter ended {day}?", NEWEST_FIRST) == ""


async def test_an_amount_of_a_share_is_not_in_millions() -> None:
    """The head tells that it is of a share, or the caption leaves out amounts of a share."""
    rows = "| Earnings per share: | |\n| Basic | $1.34 |\n| Dividends declared | $0.24 |\n| Revenue | $12.50 |\n"
    text = f"Results (in millions, except per share amounts)\n\n| | Q2 2023 |\n|---|---|\n{rows}"
    assert (
        await tell("What were the dividends declared in Q2 2023?", versions_of(text))
        == "Dividends declared, Q2 2023: $0.24 [1]"
    )
    basic = await tell("What were the basic earnings per share in Q2 2023?", versions_of(text))
    assert "million" not in basic


async def test_a_segment_is_not_the_whole() -> None:
    """A length and a year alone end with the quarter of the report, so the newest column is not of the segment."""
    columns = "| | Three months 2023 | Three months 2022 | Six months 2023 |\n|---|---|---|---|\n"
    whole = f"# Results\n\nIn USD thousands\n\n{columns}| Revenue | 51,340 | 41,000 | 99,000 |\n"
    part = "\n## Segment {}\n\n| | Q2 2023 | Q2 2022 |\n|---|---|---|\n| Revenue | {} | 9,000 |\n"
    text = whole + part.format("Pumps", "24,050") + part.format("Filters", "15,290")
    told = await tell("What was revenue in Q2 2023?", versions_of(text))
    assert told == "Revenue, three months 2023: 51,340 thousand USD [1]"
    assert "51,340" not in await tell("What was the revenue of the segment Pumps in Q2 2023?", versions_of(text))


async def test_a_name_in_a_sentence_is_not_the_name_of_the_company() -> None:
    table = "Figures (in millions)\n\n| | Q2 2023 |\n|---|---|\n| Revenue | $9 |\n"
    text = f"Okeke Ferries\n\nOur competitor Solberg grew.\n\n{table}"
    assert await tell("What was the revenue of Solberg in Q2 2023?", versions_of(text)) == ""
    assert (
        await tell("What was the revenue of Okeke in Q2 2023?", versions_of(text)) == "Revenue, Q2 2023: $9 million [1]"
    )


_MILL = """Solberg Mills

| EUR million | Q2 2023 | Q1 2023 |
|---|---|---|
| Sales | 400.0 | 380.0 |
| Cost of sales | (250.0) | (240.0) |
| Gross profit | 150.0 | 140.0 |
| EBITDA | 60.0 | 50.0 |
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "What was the gross margin in Q2 2023?",
            "Gross profit / Sales, Q2 2023: 150.0 million EUR / 400.0 million EUR = 37.5 %",
        ),
        ("Wie hoch war die EBITDA-Marge im zweiten Quartal 2023?", "= 15.0 % [1]"),
        ("What was the gross profit in Q2 2023?", "Gross profit, Q2 2023: 150.0"),
        ("How much was the cost of sales in Q2 2023?", "250.0 million EUR, an expense, in the table as (250.0) [1]"),
    ],
)
async def test_margins_are_computed_and_expenses_are_amounts(question: str, told: str) -> None:
    assert told in await tell(question, versions_of(_MILL))


async def test_a_margin_that_a_row_tells_is_not_computed() -> None:
    text = _MILL.replace("| EBITDA |", "| Gross margin (%) | 37.5 | 36.8 |\n| EBITDA |")
    assert "/" not in await tell("What was the gross margin in Q2 2023?", versions_of(text))


@pytest.mark.parametrize(
    ("asked", "is_asked"),
    [
        ("Okeke Ferries revenue Q2 2023", True),
        ("revenue of Okeke Ferries, quarter ended June 30, 2023", True),
        ("Okeke Ferries revenue", False),
        ("Okeke Ferries harbour Q2 2023", False),
        ("Explain Okeke Ferries revenue Q2 2023", False),
    ],
)
async def test_a_measure_that_is_typed_alone_asks_for_its_value(asked: str, is_asked: bool) -> None:
    told = "Revenue, three months ended June 30, 2023: $1,340 million [1]"
    assert await tell(asked, NEWEST_FIRST) == (told if is_asked else "")


PER_SHARE = (
    "Results (in millions, except number of shares, which are in thousands, and per share amounts)\n\n"
    "| | Q2 2023 | Q2 2022 |\n|---|---|---|\n| Earnings per share: | | |\n| Basic | $1.27 | $1.20 |\n"
    "| Diluted | $1.26 | $1.19 |\n| Shares used in computing earnings per share: | | |\n"
    "| Basic | 15,697 | 16,162 |\n| Diluted | 15,775 | 16,262 |\n"
)


@pytest.mark.parametrize("said", ["EPS", "earnings per share", "net income per share"])
async def test_earnings_per_share_are_not_the_shares_below_them(said: str) -> None:
    told = await tell(f"What was diluted {said} in Q2 2023?", versions_of(PER_SHARE))
    assert told == "Diluted, Q2 2023: $1.26 [1]"


TWO_LENGTHS = (
    "Sales (in millions)\n\n| | June 30, 2023 | June 30, 2022 | Change | June 30, 2023 | June 30, 2022 |\n"
    "|---|---|---|---|---|---|\n| Total revenue | $1,340 | $1,180 | 14 % | $3,000 | $2,500 |\n"
)


async def test_two_columns_of_one_day_are_no_value_before_a_column_with_its_length() -> None:
    key = "2023 Q2 Okeke Ferries.md"
    unclear = replace(hit(key, TWO_LENGTHS, ["2023 Q1 Okeke Ferries.md"]), score=9.0)
    unclear = replace(unclear, chunk=replace(unclear.chunk, id="unclear"))
    assert await tell("What was revenue in Q2 2023?", [unclear]) == ""
    told = await tell("What was revenue in Q2 2023?", [unclear, NEWEST_FIRST[0]])
    assert told == "Revenue, three months ended June 30, 2023: $1,340 million [1]"


async def test_columns_of_a_statement_of_equity_tell_nothing_of_a_value() -> None:
    results = "Results (in millions)\n\n| | Q2 2023 | Q2 2022 |\n|---|---|---|\n| Net income | $618 | $65 |\n"
    equity = (
        "Equity (in millions)\n\n| | Retained Earnings | Total Equity |\n|---|---|---|\n| Net income | $227 | $227 |\n"
    )
    found = [*versions_of(results), *versions_of(equity), *versions_of(equity.replace("227", "65"))]
    found = [replace(passage, chunk=replace(passage.chunk, id=f"e{n}")) for n, passage in enumerate(found)]
    assert await tell("What was net income in Q2 2023?", found) == "Net income, Q2 2023: $618 million [1]"


async def test_what_is_done_with_an_amount_is_in_no_label() -> None:
    table = "Balance (in millions)\n\n| | June 30, 2023 |\n|---|---|\n| Cash and cash equivalents | $205 |\n"
    told = await tell("How much cash and cash equivalents did it hold at the end of Q2 2023?", versions_of(table))
    assert told == "Cash and cash equivalents, June 30, 2023: $205 million [1]"

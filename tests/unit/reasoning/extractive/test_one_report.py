"""Which two values of one report are told, compared or divided, and what is left to quotes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_periods.series import asks_for_series
from reasoning.strategies.extractive.over_periods.wording import find_comparison, find_share, split_parts
from reasoning.strategies.extractive.over_periods.writing import write_series
from tests.unit.reasoning.extractive.test_series import ask, hit
from tests.unit.reasoning.extractive.test_series import tell as tell_first

COLUMNS = (
    "| | Three Months Ended June 30, 2025 | Three Months Ended June 30, 2024 | Six Months Ended June 30, 2025 |\n"
    "|---|---|---|---|\n"
)
STATEMENT = (
    f"OKEKE FERRIES\n\nStatements of operations (in millions)\n\n{COLUMNS}"
    "| Revenue | $800 | $700 | $1,500 |\n"
    "| Cost of revenue | 420 | 400 | 810 |\n"
    "| Operating expenses: | | | |\n"
    "| Research and development | 60 | 50 | 110 |\n"
    "| Selling, general and administrative | 140 | 130 | 270 |\n"
    "| Total operating expenses | 200 | 180 | 380 |\n"
    "| Other income (expense), net | 7 | 9 | 8 |\n"
    "| Net income | $160 | $120 | $310 |\n"
)
SEGMENTS = (
    f"Note 3 - Segment Information (in millions)\n\n{COLUMNS}"
    "| Revenue: | | | |\n"
    "| Boat Repair | $600 | $500 | $1,100 |\n"
    "| Island Tours | 200 | 200 | 400 |\n"
    "| Total revenue | $800 | $700 | $1,500 |\n"
    "| Segment operating income: | | | |\n"
    "| Boat Repair | $90 | $70 | $170 |\n"
    "| Island Tours | 30 | 20 | 50 |\n"
)
AREAS = (
    f"Areas (in millions)\n\nRevenue by area:\n\n{COLUMNS}"
    "| Fjords | $500 | $450 | $900 |\n| Total | $800 | $700 | $1,500 |\n"
)
PAID = (
    f"Stock-based compensation expense (in millions)\n\n{COLUMNS}"
    "| Research and development | $6 | $5 | $11 |\n"
    "| Selling, general and administrative | 4 | 3 | 7 |\n"
)
CASH = (
    "Cash flows (in millions)\n\n| | Six Months Ended June 30, 2025 | Six Months Ended June 30, 2024 |\n|---|---|---|\n"
    "| Net income | $310 | $240 |\n| Inventories | (40) | 12 |\n"
)


def read(texts: Sequence[str], quarter: str = "2025 Q2") -> list[Hit]:
    names = [f"{other} Okeke.md" for other in (quarter, "2025 Q1", "2024 Q4")]
    hits = [hit(f"{quarter} Okeke.md", text, names, title="Okeke") for text in texts]
    return [
        replace(found, chunk=replace(found.chunk, id=f"{quarter}-{at}", position=2 * at))
        for at, found in enumerate(hits)
    ]


REPORT = read([PAID, SEGMENTS, STATEMENT, CASH, AREAS])


async def tell(question: str, hits: Sequence[Hit] = REPORT) -> str:
    return await tell_first(question, hits, first=len(hits))


REPAIR = "Boat Repair / {}, three months ended June 30, 2025: $600 million / $800 million = 75.0 %"


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of Okeke's total revenue did the Boat Repair segment contribute in Q2 2025?",
        "In the latest quarter, what share of revenue came from Boat Repair?",
        "What was the Boat Repair segment's share of revenue in Q2 2025?",
        "What share did Boat Repair have in total sales in Q2 2025?",
        "How much of Okeke's revenue was contributed by Boat Repair in Q2 2025, in percent?",
        "Welcher Anteil am Umsatz entfiel im Q2 2025 auf den Geschäftsbereich Boat Repair?",
    ],
)
async def test_a_share_of_one_quarter_is_computed_from_the_part_and_the_whole(question: str) -> None:
    assert asks_for_series(question)
    assert (await tell(question)).startswith((REPAIR.format("Total revenue"), REPAIR.format("Revenue")))


async def test_both_rows_of_a_share_are_cited() -> None:
    question = "What share of revenue came from Boat Repair in Q2 2025?"
    series = await ask(question, REPORT, first=5)
    assert series is not None
    assert series.note.endswith("The percentage is computed.")
    assert {figure for citation in write_series(question, series)[1] for figure in citation.quote.split()} >= {
        "$600",
        "$800",
    }


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How did Okeke's operating expenses for Q2 2025 compare to its revenue for the same quarter?", "= 25.0 %"),
        ("What were Okeke's R&D expenses relative to its revenue in the latest quarter?", "= 7.5 %"),
        ("Wie hoch war der Umsatz im Verhältnis zum Jahresüberschuss im Q2 2025?", "= 500.0 %"),
    ],
)
async def test_two_measures_that_are_compared_are_divided(question: str, told: str) -> None:
    assert told in await tell(question)


async def test_expenses_that_are_written_as_negatives_are_not_divided() -> None:
    hits = read([STATEMENT.replace("| 420 | 400 | 810", "| (420) | (400) | (810)")])
    told = await tell("How did cost of revenue compare to revenue in Q2 2025?", hits)
    told_cost = (
        "Cost of revenue, three months ended June 30, 2025: $420 million, an expense, in the table as ($420) [1]"
    )
    assert f"{told_cost}\n\nRevenue, " in told
    assert "%" not in told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What were revenue and net income in the latest quarter?", ("Total revenue", "$800", "Net income", "$160")),
        (
            "In the latest quarter, what were the sales figures for Okeke's boat repair and island tours segments?",
            ("Boat Repair", "$600", "Island Tours", "$200"),
        ),
    ],
)
async def test_two_values_of_one_report_are_told(question: str, told: Sequence[str]) -> None:
    lines = (await tell(question)).split("\n\n")
    period = "three months ended June 30, 2025"
    assert [line.rpartition(" [")[0] for line in lines] == [
        f"{told[at]}, {period}: {told[at + 1]} million" for at in (0, 2)
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of segment operating profit did Fjords contribute in Q2 2025?",
        "What share of Boat Repair revenue came from Fjords in Q2 2025?",
        "What share of revenue growth came from Boat Repair in Q2 2025?",
        "What share of the increase in revenue came from Boat Repair in Q2 2025?",
        "What share of revenue came from Boat Repair in Q3 2025?",
        "What share of Solberg's revenue came from Boat Repair in Q2 2025?",
        "What were the revenues of the boat repair and freight segments in Q2 2025?",
        "What share of net income came from Boat Repair in Q2 2025?",
        "What share of the first half's revenue came from Boat Repair in Q2 2025?",
        "How did operating expenses compare to the budget in Q2 2025?",
        "How did operating expenses in Q2 2025 compare to revenue in Q1 2025?",
        "How did the operating income of Boat Repair compare to its revenue in Q2 2025?",
        "What were revenue and net income per share in Q2 2025?",
        "What were expected revenue and net income in Q2 2025?",
    ],
)
async def test_what_is_not_surely_found_is_left_to_quotes(question: str) -> None:
    assert await tell(question) == ""


async def test_a_part_whose_table_does_not_have_the_whole_is_no_part() -> None:
    partial = SEGMENTS.replace("| Total revenue | $800 | $700 | $1,500 |\n", "")
    question = "What share of revenue came from Boat Repair in Q2 2025?"
    assert await tell(question, read([partial, STATEMENT])) == ""
    assert await tell(question, read([SEGMENTS, STATEMENT]))


async def test_a_row_behind_a_total_is_none_of_the_group() -> None:
    assert "Net income, three months ended June 30, 2025: $160 million" in await tell("What was net income in Q2 2025?")


async def test_other_income_is_no_net_income() -> None:
    without = STATEMENT.replace("| Net income | $160 | $120 | $310 |\n", "")
    assert await tell("What was net income in Q2 2025?", read([without])) == ""


async def test_what_is_paid_in_shares_is_no_expense() -> None:
    told = await tell("What were research and development expenses in Q2 2025?")
    assert told == "Research and development, three months ended June 30, 2025: $60 million [1]"
    asked = "What was stock-based compensation in research and development in Q2 2025?"
    assert "$6 million" in await tell(asked)


def balance(quarter: str, day: str, value: str, *, label: str = "Inventories") -> list[Hit]:
    table = f"Balance sheets (in millions, except number of shares, which are in thousands)\n\n| | {day} |\n|---|---|\n"
    flows = f"Cash flows (in millions)\n\n| | Nine Months Ended {day} |\n|---|---|\n| Inventories | 49 |\n"
    return read([flows, f"{table}| {label} | {value} |\n"], quarter)


async def test_inventories_are_of_a_day_and_net_of_what_was_written_off() -> None:
    hits = [
        *balance("2024 Q4", "December 31, 2024", "680"),
        *balance("2025 Q1", "March 31, 2025", "700", label="Inventories, net"),
        *balance("2025 Q2", "June 30, 2025", "730"),
    ]
    told = await tell("How have inventories changed across the quarters?", hits)
    assert [line.partition(": ")[2][:11] for line in told.split("\n\n")[:3]] == [
        "680 million",
        "700 million",
        "730 million",
    ]


async def test_a_version_is_read_again_for_a_value_of_the_kind_of_the_others() -> None:
    hits = [
        *read(["Results\n\n| | June 30, 2025 |\n|---|---|\n| Cash deposits | 70 |\n"], "2025 Q2"),
        *read(["Results\n\n| | March 31, 2025 |\n|---|---|\n| Cash deposits | 60 |\n"], "2025 Q1"),
        *read(
            [
                "Flows\n\n| | Three Months Ended January 31, 2025 |\n|---|---|\n| Cash deposits | 5 |\n",
                "Results\n\n| | December 31, 2024 |\n|---|---|\n| Cash deposits | 50 |\n",
            ],
            "2024 Q4",
        ),
    ]
    told = await tell("How have cash deposits changed across the quarters?", hits)
    assert "Cash deposits, December 31, 2024: 50 [" in told
    assert "No such value" not in told


async def test_previous_ones_are_periods() -> None:
    hits = [
        *read([STATEMENT], "2025 Q2"),
        *read([STATEMENT.replace("June 30", "March 31").replace("| 60 |", "| 55 |")], "2025 Q1"),
    ]
    question = "Comparing the most recent quarter to previous ones, how has Okeke's investment in research changed?"
    assert "up by $5 million" in await tell(question.replace("research", "research and development"), hits)


@pytest.mark.parametrize(
    "question",
    [
        "What share of the orders is open?",
        "What is the share price?",
        "How did revenue compare to the previous quarter?",
        f"What share of revenue is {'very ' * 250}large in Q2 2025?",
    ],
)
def test_other_questions_are_no_shares_of_a_quarter(question: str) -> None:
    assert find_comparison(question) is None
    assert split_parts(question) == (question,)
    assert not asks_for_series(question) or "previous" in question


def test_a_share_of_two_periods_keeps_them() -> None:
    share = find_share("What share of revenue in Q1 2025 came from Services in Q2 2025?")
    assert share is None or "Q1 2025" in share.whole


async def test_a_measure_of_a_segment_is_not_compared_with_the_whole() -> None:
    text = SEGMENTS.replace("Segment operating income", "Operating income")
    assert (
        await tell("How did the operating income of Boat Repair compare to its revenue in Q2 2025?", read([text])) == ""
    )


async def test_of_two_tables_of_a_passage_with_the_same_segments_neither_is_taken() -> None:
    rows = "| Boat Repair | {} | $1 | $2 |\n| Total | {} | $3 | $4 |\n"
    text = f"{COLUMNS}{rows.format('$90', '$150')}\n{COLUMNS}{rows.format('$600', '$800')}"
    hits = read([text, STATEMENT])
    heading = "Revenue and profit by segment (in millions)"
    hits[0] = replace(hits[0], chunk=replace(hits[0].chunk, heading=heading))
    question = "What share of revenue came from Boat Repair in Q2 2025?"
    assert await tell(question, hits) == ""
    alone = f"{COLUMNS}{rows.format('$600', '$800')}"
    hits[0] = replace(hits[0], chunk=replace(hits[0].chunk, text=alone))
    assert "= 75.0 %" in await tell(question, hits)


async def test_what_inventories_changed_by_is_not_what_they_are() -> None:
    days = {"2025 Q1": "March 31, 2025", "2025 Q2": "June 30, 2025"}
    flows = [balance(quarter, day, "680")[:1] for quarter, day in days.items()]
    hits = [found for report in flows for found in report]
    assert await tell("How have inventories changed across the quarters?", hits) == ""


BY_COLUMNS = (
    "OKEKE FERRIES\n\nSegments (in millions)\n\n| | Revenue Q2 2025 | Revenue Q2 2024 | Net income Q2 2025 |\n"
    "|---|---|---|---|\n| Boat Repair | $600 | $500 | $(14) |\n| Island Tours | $200 | $200 | $90 |\n"
    "| Group | $800 | $700 | $76 |\n"
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "What share of revenue came from Boat Repair in Q2 2025?",
            "Boat Repair / Revenue, Revenue Q2 2025: $600 million / $800 million = 75.0 %",
        ),
        ("What was the net income of Boat Repair in Q2 2025?", "Boat Repair, Net income Q2 2025: $(14) million [1]"),
        ("What was the revenue of Island Tours in Q2 2025?", "Island Tours, Revenue Q2 2025: $200 million [1]"),
        ("What were the costs of Island Tours in Q2 2025?", ""),
        ("What was the figure of Island Tours in Q2 2025?", ""),
    ],
)
async def test_of_columns_of_several_measures_the_asked_is_taken(question: str, told: str) -> None:
    columns = "| | Q2 2025 | Q2 2024 |\n|---|---|---|\n"
    whole = f"OKEKE FERRIES\n\nIncome (in millions)\n\n{columns}| Revenue | $800 | $700 |\n| Costs | $40 | $30 |\n"
    answer = await tell(question, read([BY_COLUMNS, whole]))
    assert answer.startswith(told)
    assert bool(answer) is bool(told)


AREA = (
    "Orrin Mills\n\nSales by area\n\n(in millions) | Three Months Ended June 30, 2025 Net Sales | Three Months Ended "
    "June 30, 2025 Percent of Net Sales\nPeru | $13.4 | 20.1%\nChile | 53.3 | 79.9%\n"
)


@pytest.mark.parametrize(
    ("question", "key", "text", "told"),
    [
        ("What were Orrin's sales in Peru for the three months ended June 30, 2025?", "Orrin 10-Q.html", AREA, "$13.4"),
        ("What were Orrin's sales in Peru for the three months ended March 31, 2025?", "Orrin 10-Q.html", AREA, ""),
        ("What were Belvane's sales in Peru for the three months ended June 30, 2025?", "Orrin 10-Q.html", AREA, ""),
        ("What was the income of Orrin in Peru for the three months ended June 30, 2025?", "Orrin.html", AREA, ""),
        ("What was Okeke's revenue in Q2 2025?", "Okeke 2025-06-30.md", f"{STATEMENT}\nIn Q2 2025, it rained.", "$800"),
        ("What was Okeke's revenue in Q3 2025?", "Okeke 2025-06-30.md", f"{STATEMENT}\nIn Q2 2025, it rained.", ""),
        ("What was Okeke's revenue in Q2 2025?", "Okeke 2025-06-30.md", STATEMENT, ""),
    ],
)
async def test_a_report_without_versions_is_found_by_its_day_or_by_the_quarter_that_it_tells(
    question: str, key: str, text: str, told: str
) -> None:
    answer = await tell(question, [hit(key, text)])
    assert told in answer
    assert bool(answer) is bool(told)

"""Which values a question over periods is answered with, how they are written, and what is computed from them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, DocumentRef
from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.text import periods
from reasoning.strategies.extractive.over_periods import series
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.series import find_series
from reasoning.strategies.extractive.over_periods.writing import write_series

SETTINGS = CorpusSettings(chunker="sentences", extractor="none", fine=Fine.OFF, embedding_model="m", dimension=8)
CORPUS = Corpus(id="c", name="files", settings=SETTINGS, generation=1, created_at=datetime(2026, 11, 30, tzinfo=UTC))
QUARTERS = {"2022 Q4": "December 31, 2022", "2023 Q1": "March 31, 2023", "2023 Q2": "June 30, 2023"}
TURNOVER = {"2022 Q4": "1,210", "2023 Q1": "1,180", "2023 Q2": "1,340"}


def hit(key: str, text: str, others: Sequence[str] = (), title: str = "") -> Hit:
    chunk = Chunk(id=f"c-{key}", document_id=key, view_id="v", position=0, text=text, heading="", page=None, span=None)
    versions = tuple(DocumentRef(id=other, key=other, title=title, metadata={}) for other in others if other != key)
    return Hit(
        chunk=chunk, document=DocumentRef(id=key, key=key, title=title, metadata={}), score=1.0, versions=versions
    )


def report(quarter: str, *, unit: str = "(in millions)", name: str = "Okeke Ferries") -> Hit:
    day, value = QUARTERS[quarter], TURNOVER[quarter]
    text = (
        f"Statements of operations {unit}\n\n"
        f"| | Three Months Ended March 31, 2021 | Three Months Ended {day} | Nine Months Ended {day} | Change |\n"
        "|---|---|---|---|---|\n"
        f"| Revenue | $900 | ${value} | $3,000 | 4 % |\n"
        "| Cost of revenue | 400 | 500 | 900 | 5 % |\n"
        "| Headcount of crew | 40 | 44 | 44 | 1 % |\n"
    )
    return hit(f"{quarter} {name}.md", text, [f"{other} {name}.md" for other in QUARTERS])


REPORTS = [report(quarter) for quarter in ("2023 Q1", "2023 Q2", "2022 Q4")]


async def ask(text: str, hits: Sequence[Hit], *, first: int = 2) -> Series | None:
    async def search(documents: frozenset[str], k: int) -> Sequence[Hit]:
        return [hit for hit in hits if hit.document.id in documents][:k]

    question = Question(corpus=CORPUS, text=text)
    return await find_series(question, text, hits[:first], search)


async def test_each_report_says_its_own_period_in_the_order_of_time() -> None:
    question = "How have the net sales of Okeke Ferries changed over time?"
    series = await ask(question, REPORTS)
    assert series is not None
    text, citations = write_series(question, series)
    first, last = "three months ended December 31, 2022", "three months ended June 30, 2023"
    assert text.split("\n\n") == [
        f"Revenue, {first}: $1,210 million [1]",
        "Revenue, three months ended March 31, 2023: $1,180 million [2]",
        f"Revenue, {last}: $1,340 million [3]",
        f"Computed: up by $130 million, +10.7 %, from $1,210 million ({first}) to $1,340 million ({last}).",
    ]
    assert [citation.document.key[:7] for citation in citations] == list(QUARTERS)
    for citation, value in zip(citations, TURNOVER.values(), strict=True):
        assert value in citation.quote
        assert value in text[citation.answer_span.start : citation.answer_span.end]


async def test_the_length_that_the_question_says_is_taken() -> None:
    series = await ask("How has revenue changed in the nine months of each of these reports?", REPORTS)
    assert series is not None
    assert {cell.value for cell in series.cells} == {"$3,000"}


async def test_extremes_are_told_if_they_are_asked_for() -> None:
    question = "How has revenue fluctuated across quarters?"
    text = await tell(question, REPORTS)
    assert text.endswith(
        "; highest $1,340 million (three months ended June 30, 2023), lowest $1,180 million (three months ended March "
        "31, 2023)."
    )


async def test_a_number_of_people_has_no_scale() -> None:
    assert "44 [1]" in await tell("How has the headcount of crew changed?", REPORTS)


async def test_a_report_without_the_row_is_named() -> None:
    empty = hit("2022 Q4 Okeke Ferries.md", "The ferry sailed.", [f"{other} Okeke Ferries.md" for other in QUARTERS])
    assert "No such value was surely found in: 2022 Q4 Okeke Ferries." in await tell(
        "How has revenue changed over time?", [*REPORTS[:2], empty]
    )


async def test_no_change_is_computed_from_unlike_units() -> None:
    mixed = [report("2022 Q4"), report("2023 Q1", unit="(in thousands)"), report("2023 Q2")]
    assert (await tell("How has revenue changed over time?", mixed)).endswith(
        "Computed: no change, since the values have different units."
    )


async def test_a_unit_that_one_table_lacks_is_taken_from_the_others_and_said() -> None:
    text = await tell("How has revenue changed?", [report("2022 Q4"), report("2023 Q1", unit=""), report("2023 Q2")])
    assert "$1,180 [2]" in text
    assert text.endswith("a value whose table names no unit is taken to be in the unit of the others.")


@pytest.mark.parametrize(
    "question",
    [
        "Why was revenue lower in Q1 2023?",
        "How have marketing expenses changed over the quarters?",
        "How has revenue from tourists in Spain changed over the quarters?",
        "How do Okeke Ferries and Solberg Mills compare over time in revenue?",
    ],
)
async def test_other_questions_have_no_series(question: str) -> None:
    assert await ask(question, REPORTS) is None


async def test_two_families_that_have_the_row_are_no_series_unless_one_is_named() -> None:
    both = [REPORTS[0], report("2023 Q1", name="Solberg Mills"), *REPORTS[1:]]
    assert await ask("How has revenue changed over time?", both) is None
    series = await ask("How has revenue of Okeke Ferries changed over time?", both)
    assert series is not None
    assert all("Okeke" in cell.hit.document.key for cell in series.cells)


async def test_versions_without_names_of_periods_are_named_by_their_files() -> None:
    keys = [f"Price list {year}.csv" for year in (2021, 2022, 2023)]
    lists = [hit(key, f"Article: Berth; Price (EUR): {n + 7}.50; Days: 3", keys) for n, key in enumerate(keys)]
    question = "How has the price of the berth changed from 2022 to 2023?"
    series = await ask(question, lists)
    assert series is not None
    assert write_series(question, series)[0].split("\n\n")[:2] == [
        "Berth, Price (EUR), Price list 2022: 8.50 [1]",
        "Berth, Price (EUR), Price list 2023: 9.50 [2]",
    ]


async def test_the_first_of_several_columns_without_names_is_no_period() -> None:
    keys = [f"{quarter} Okeke.md" for quarter in QUARTERS]
    text = "Revenue | $1,210 | $1,000\nCost of revenue | 500 | 400\nOther income | 5 | 6\n"
    assert await ask("How has revenue changed over time?", [hit(key, text, keys) for key in keys]) is None


async def test_a_value_that_the_best_passage_does_not_have_is_left_out() -> None:
    keys = [f"{quarter} Okeke.md" for quarter in QUARTERS]
    best = [
        hit(key, "Revenue | $1,210 | $1,000\nCost of revenue | 500 | 400\nOther income | 5 | 6\n", keys) for key in keys
    ]
    table = "| | Three Months Ended {} | Change |\n|---|---|---|\n| Revenue | $70 | 4 % |\n| Other | $9 | 5 % |\n"
    parts = [
        replace(one.chunk, id=f"p-{one.chunk.id}", text=table.format(day))
        for one, day in zip(best, QUARTERS.values(), strict=True)
    ]
    notes = [replace(one, chunk=chunk) for one, chunk in zip(best, parts, strict=True)]
    assert await ask("How has revenue changed over time?", [*best, *notes]) is None
    assert await ask("How has revenue changed over time?", notes) is not None


async def test_page_numbers_are_no_values() -> None:
    keys = [f"{quarter} Okeke.md" for quarter in QUARTERS]
    text = "| Item | Page |\n|---|---|\n| Legal proceedings | 20 |\n| Revenue | 31 |\n"
    assert await ask("How have legal proceedings changed over time?", [hit(key, text, keys) for key in keys]) is None


async def test_the_periods_of_one_table_are_a_series() -> None:
    text = "| Traffic | 2021 | 2022 | 2023 |\n|---|---|---|---|\n| Passengers | 40 | 50 | 45 |\n| Cars | 4 | 5 | 6 |\n"
    series = await ask("How has the number of passengers changed over the years?", [hit("harbour.md", text)])
    assert series is not None
    assert [cell.value for cell in series.cells] == ["40", "50", "45"]
    assert "Computed: up by 5, +12.5 %" in write_series("", series)[0]


async def test_a_contract_has_no_series() -> None:
    lease = hit("lease.md", "The tenant pays a fee of 1,200 EUR. The fee changes each year.")
    assert await ask("How has the fee changed?", [lease]) is None


async def test_the_newest_versions_are_read_with_few_passages_of_each() -> None:
    files = [f"Price list v{version}.csv" for version in range(1, 3 * series._MOST)]
    prices = [hit(file, f"Article: Berth; Price (EUR): {at}.50; Days: 3", files) for at, file in enumerate(files)]
    searched: list[tuple[int, int]] = []

    async def search(documents: frozenset[str], k: int) -> Sequence[Hit]:
        searched.append((len(documents), k))
        return [price for price in prices if price.document.id in documents]

    text = "How has the price of the berth changed over time?"
    found = await find_series(Question(corpus=CORPUS, text=text), text, prices[:2], search)
    assert found is not None
    assert [cell.hit.document.key for cell in found.cells] == files[-series._MOST :]
    assert f"{2 * series._MOST - 1} older versions were not read." in write_series(text, found)[0]
    assert searched == [(series._MOST, series._MOST_HITS)]
    longer = text.replace("berth", "berth " * periods._LONGEST)
    assert await find_series(Question(corpus=CORPUS, text=longer), longer, prices[:2], search) is None


FIGURES = """Key figures (in EUR million)

| | 2019 | 2020 | 2021 | 2022 | 2023 | 2024 |
|---|---|---|---|---|---|---|
| Revenue | 100 | 90 | 110 | 130 | 120 | 200 |
"""
SEGMENTS = """Segments (in EUR million)

| | 2022 | 2023 | 2024 |
|---|---|---|---|
| {0} | | | |
| Revenue | 10 | 11 | 12 |
| {1} | | | |
| Revenue | 20 | 21 | 22 |
"""


def table(columns: str, values: str, caption: str = "Figures (in EUR million)") -> str:
    rules = "|---" * (columns.count("|") + 2)
    return f"{caption}\n\n| | {columns} |\n{rules}|\n| Revenue | {values} |\n| Crew | {values} |\n"


async def tell(question: str, hits: Sequence[Hit], *, first: int = 2) -> str:
    """Returns the text of a series, '' if there is none."""
    found = await ask(question, hits, first=first)
    return write_series(question, found)[0] if found else ""


async def read_values(question: str, *hits: Hit) -> list[str]:
    series = await ask(question, hits, first=len(hits))
    return [cell.value for cell in series.cells] if series else []


@pytest.mark.parametrize("heads", [("Americas:", "Europe:"), ("Americas", "Europe"), ("**Americas**", "**Europe**")])
async def test_a_row_is_of_the_last_head_above_it(heads: tuple[str, str]) -> None:
    segments = hit("figures.md", SEGMENTS.format(*heads))
    assert await read_values("How has revenue in Europe changed over time?", segments) == ["20", "21", "22"]
    assert await read_values("How has revenue in the Americas changed over time?", segments) == ["10", "11", "12"]
    assert await read_values("How has revenue in Asia changed over time?", segments) == []
    assert await read_values("How has revenue changed over the years?", segments) == []


async def test_the_whole_goes_before_more_periods_of_a_part() -> None:
    whole = table("2023 | 2024", "110 | 120")
    both = hit("figures.md", f"{whole}\n\nNote 4. Segments\n\n{SEGMENTS.format('Americas:', 'Europe:')}")
    assert await read_values("How has revenue changed over the years?", both) == ["110", "120"]


async def test_two_rows_that_are_as_good_and_differ_are_no_series() -> None:
    two = hit("figures.md", table("2023 | 2024", "110 | 120") + "\n\nNote 4\n\n" + table("2023 | 2024", "10 | 20"))
    assert await read_values("How has revenue changed over the years?", two) == []


async def test_columns_that_say_more_than_a_period_are_left_out() -> None:
    question = "How has revenue changed over the years?"
    plans = hit("plan.md", table("Actual 2023 | Plan 2023 | Plan 2024 | Forecast 2025", "10 | 12 | 15 | 20"))
    assert await read_values(question, plans) == []
    changes = hit("figures.md", table("Delta 2022 in % | 2023 | 2022 | 2021", "10 | 12 | 50 | 20"))
    assert await read_values(question, changes) == ["20", "50", "12"]
    alike = hit("plan.md", table("Plan 2023 | Plan 2024 (EUR million)", "12 | 15"))
    assert await read_values(question, alike) == ["12", "15"]
    keys = ["report 2022.md", "report 2023.md"]
    reports = [hit(key, table(f"{key[7:11]} | Plan 2024", "12 | 15"), keys) for key in keys]
    assert await read_values(question, *reports) == ["12", "12"]


async def test_tables_of_two_documents_are_no_series_unless_one_is_named() -> None:
    beta, gamma = (
        hit(f"{name}.md", table("2022 | 2023", value)) for name, value in (("Beta", "1 | 2"), ("Gamma", "5 | 6"))
    )
    assert await read_values("How has revenue changed over the years?", beta, gamma) == []
    assert await read_values("How has Gamma's revenue changed over the years?", beta, gamma) == ["5", "6"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("How did revenue change from 2021 to 2023?", ["110", "130", "120"]),
        ("How has revenue changed since 2022 over the years?", ["130", "120", "200"]),
        ("How has revenue changed over the last three years?", ["130", "120", "200"]),
        ("How did revenue change from 2015 to 2023?", []),
        ("How did revenue change over the quarters of 2023?", []),
    ],
)
async def test_of_a_table_the_periods_that_the_question_names_are_taken(question: str, values: list[str]) -> None:
    assert await read_values(question, hit("figures.md", FIGURES)) == values


async def test_of_the_versions_the_last_that_the_question_counts_are_taken() -> None:
    assert await read_values("How has revenue changed over the last two quarters?", *REPORTS) == ["$1,180", "$1,340"]
    assert await read_values("How has revenue changed over the last two years?", *REPORTS) == []


async def test_no_change_is_computed_from_two_currencies() -> None:
    euros = report("2023 Q1")
    euros = replace(euros, chunk=replace(euros.chunk, text=euros.chunk.text.replace("$", "€")))
    named = report("2023 Q1", unit="(in EUR million)")
    named = replace(named, chunk=replace(named.chunk, text=named.chunk.text.replace("$", "")))
    for other in (euros, named):
        series = await ask("How has revenue changed over time?", [report("2022 Q4"), other, report("2023 Q2")])
        assert series is not None
        assert write_series("", series)[0].endswith("Computed: no change, since the values have different units.")


async def test_the_unit_of_the_nearest_caption_counts() -> None:
    keys = ["2023 Q1 Okeke.md", "2023 Q2 Okeke.md"]
    texts = [
        f"{table(day, value, '(in millions)')}\n\n(in thousands)\n\n{table(day, value).split(chr(10), 1)[1]}".replace(
            "Crew", "Deferred revenue"
        )
        for day, value in (("March 31, 2023", "5,000"), ("June 30, 2023", "6,000"))
    ]
    below = [text.rsplit("| Revenue", 1)[0] + text[text.rindex("| Deferred") :] for text in texts]
    above = [text.replace("| Deferred", "| Other", 1) for text in below]
    hits = [hit(key, text, keys) for key, text in zip(keys, above, strict=True)]
    series = await ask("How has deferred revenue changed over time?", hits)
    assert series is not None
    assert {cell.scale for cell in series.cells} == {"thousand"}


@pytest.mark.parametrize(
    "asked",
    [
        "revenue growth",
        "the ratio of revenue",
        "Umsatz pro Kopf",
        "the number of employees with revenue responsibility",
    ],
)
async def test_another_measure_of_a_label_is_not_answered_with_it(asked: str) -> None:
    assert await read_values(f"How has {asked} changed over time?", *REPORTS) == []


async def test_amounts_among_percentages_are_missing() -> None:
    keys = [f"{quarter} Okeke.md" for quarter in QUARTERS]
    margins = [
        hit(key, table(day, value).replace("Revenue", "Gross margin"), keys)
        for key, day, value in zip(keys, QUARTERS.values(), ("41 %", "0.43", "45 %"), strict=True)
    ]
    assert await read_values("How has the gross margin changed over time?", *margins) == ["41 %", "45 %"]


def versions(*values: str, caption: str = "Figures", label: str = "Revenue") -> list[Hit]:
    keys = [f"{quarter} Okeke.md" for quarter in QUARTERS][: len(values)]
    days = list(QUARTERS.values())
    return [
        hit(key, table(days[at], value, caption).replace("Revenue", label), keys)
        for at, (key, value) in enumerate(zip(keys, values, strict=True))
    ]


async def test_negative_values_are_compared_by_their_sizes() -> None:
    told = await tell(
        "How has crew expense fluctuated over the quarters?",
        versions("(5,930)", "-6,100", "(6,488)", label="Crew expense"),
    )
    assert "Computed from the sizes of the values, which are all written as negatives: up by 558, +9.4 %" in told
    assert "; highest (6,488) (June 30, 2023), lowest (5,930) (December 31, 2022)" in told


async def test_a_point_before_decimals_in_one_value_is_one_in_all() -> None:
    assert "up by 0.106, +8.6 %" in await tell("How has revenue changed over time?", versions("1.234", "1.30", "1.34"))
    doubtful = await tell("How has revenue changed over time?", versions("1.234", "15", "17"))
    assert doubtful.endswith("it is not sure what the points in the values are.")


@pytest.mark.parametrize(
    ("caption", "scale"),
    [
        ("(€ million)", "million"),
        ("EUR m", "million"),
        ("$m", "million"),
        ("$'000", "thousand"),
        ("in thousand euros", "thousand"),
        ("€bn", "billion"),
        ("We earned 5 million euros.", ""),
    ],
)
async def test_the_unit_of_a_table_is_read(caption: str, scale: str) -> None:
    found = await ask("How has revenue changed over time?", versions("950", "960", caption=caption))
    assert found is not None
    assert {cell.scale for cell in found.cells} == {scale}


@pytest.mark.parametrize(
    "question",
    [
        "What was the average revenue per quarter?",
        "What is the total of revenue over the three quarters?",
        "How have revenue and freight developed over the quarters?",
    ],
)
async def test_one_number_of_all_periods_and_two_labels_are_no_series(question: str) -> None:
    assert await ask(question, REPORTS) is None


async def test_a_second_clause_of_one_word_is_told() -> None:
    found = await ask("How has revenue changed over the quarters, and why?", REPORTS)
    assert found is not None
    assert found.note.endswith("The rest of the question is not answered.")


async def test_the_end_of_a_range_without_a_version_is_told() -> None:
    keys = [f"Price list {year}.csv" for year in (2021, 2022, 2023)]
    lists = [hit(key, f"Article: Berth; Price (EUR): {n + 7}.50; Days: 3", keys) for n, key in enumerate(keys)]
    assert "No version is of: 2025.\n" in await tell("How has the price of the berth changed from 2022 to 2025?", lists)


async def test_the_quarters_of_one_year_are_those_of_that_year() -> None:
    question = "How has revenue changed over the quarters of 2023?"
    found = await ask(question, REPORTS)
    assert found is not None
    assert [cell.value for cell in found.cells] == ["$1,180", "$1,340"]


async def test_the_currency_of_the_table_stands_behind_its_values() -> None:
    told = await tell("How has revenue changed over the quarters?", versions("950", "960", caption="(in EUR million)"))
    assert "950 million EUR [1]" in told
    assert "Computed: up by 10 million EUR, +1.1 %" in told


def make_statement(quarter: str) -> list[Hit]:
    """A report of two passages, of which the second begins within the table of the first."""
    year, day = quarter[:4], {"Q1": "March 31", "Q2": "June 30"}[quarter[5:]]
    figures = {"2024 Q2": (400, 90, 300), "2025 Q1": (500, 120, 310), "2025 Q2": (480, 130, 330)}
    revenue, profit, before = figures[quarter]
    texts = [
        (
            f"OKEKE FERRIES\n\n(in thousands)\n\n | Three Months Ended | Three Months Ended\n"
            f" | {day}, {year} | {day}, {int(year) - 1}\n"
            f"Net sales | ${revenue} | ${before}\nCost of sales | 200 | 190\nGross profit | 100 | 99\n"
        ),
        f"Research and development | 7 | 8\nOperating income | {profit} | 70\nNet income | 60 | 50\n",
    ]
    names = [f"{other} okeke.htm" for other in figures]
    hits = [hit(f"{quarter} okeke.htm", text, names, title="okeke") for text in texts]
    return [
        replace(found, chunk=replace(found.chunk, id=f"{quarter}-{position}", position=position))
        for position, found in enumerate(hits)
    ]


STATEMENTS = [passage for quarter in ("2024 Q2", "2025 Q1", "2025 Q2") for passage in make_statement(quarter)]


async def write(question: str) -> str:
    series = await ask(question, STATEMENTS, first=len(STATEMENTS))
    assert series is not None
    text, citations = write_series(question, series)
    for citation in citations:
        value = text[citation.answer_span.start : citation.answer_span.end].rpartition(": ")[2]
        assert any(figure.strip("$") in citation.quote for figure in value.split())
    return text


async def test_a_passage_within_a_table_takes_its_columns_from_the_passage_before() -> None:
    assert (await write("How has the operating income of Okeke changed over time?")).split("\n\n")[:3] == [
        "Operating income, three months ended June 30, 2024: 90 thousand [1]",
        "Operating income, three months ended March 31, 2025: 120 thousand [2]",
        "Operating income, three months ended June 30, 2025: 130 thousand [3]",
    ]


async def test_a_passage_within_a_table_without_the_passage_before_tells_no_period() -> None:
    assert await ask("How has operating income changed over time?", STATEMENTS[1::2], first=3) is None


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Compare net sales of Q2 2024 with Q1 2025.", ["$400", "$500"]),
        ("How did net sales change year over year in Q1 2025?", ["$310", "$500"]),
        ("How did net sales change in Q2 2025 compared to the previous quarter?", ["$500", "$480"]),
        ("By what percentage did net sales change from Q1 2025 to Q2 2025?", ["$500", "$480"]),
    ],
)
async def test_the_quarters_that_are_named_are_told(question: str, values: list[str]) -> None:
    series = await ask(question, STATEMENTS, first=len(STATEMENTS))
    assert series is not None
    assert [cell.value for cell in series.cells] == values


async def test_a_quarter_without_the_quarter_before_is_not_compared() -> None:
    assert await ask("How did net sales change sequentially in Q2 2024?", STATEMENTS, first=6) is None


async def test_two_measures_are_told_one_after_the_other() -> None:
    text = await write("How have net sales and operating income of Okeke changed over time?")
    assert text.count("Computed: ") == 2
    assert text.index("Net sales") < text.index("Operating income")


async def test_a_margin_is_computed_from_two_rows() -> None:
    text = await write("What was the operating margin in each quarter, and when was it highest?")
    assert (
        "Operating income / Net sales, three months ended June 30, 2024: 90 thousand / $400 thousand = 22.5 % " in text
    )
    assert text.endswith(
        "Computed: the percentages, each from two values; up by 4.6 percentage points from 22.5 % (three months ended "
        "June 30, 2024) to 27.1 % (three months ended June 30, 2025); highest 27.1 % (three months ended June 30, 2025)"
        ", lowest 22.5 % (three months ended June 30, 2024)."
    )


async def test_a_gross_margin_is_no_gross_profit() -> None:
    """Reports that have a row `Gross margin` are told by it."""
    text = await write("How did the gross margin develop over the quarters?")
    assert "Gross profit / Net sales, three months ended June 30, 2024: $100 thousand / $400 thousand = 25.0 % " in text


async def test_a_share_of_one_quarter_is_computed() -> None:
    text = await write("What percentage of net sales was cost of sales in Q1 2025?")
    assert text.startswith(
        "Cost of sales / Net sales, three months ended March 31, 2025: $200 thousand / $500 thousand = 40.0 %"
    )


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of operating income was net sales in Q1 2025?",
        "What percentage of net sales was goodwill in Q1 2025?",
        "What was the staff turnover in each quarter?",
        "What was the share of Norway in net sales in each quarter?",
        "How has the operating income of Belvane changed over time?",
    ],
)
async def test_what_is_not_surely_understood_is_not_answered(question: str) -> None:
    assert await ask(question, STATEMENTS, first=len(STATEMENTS)) is None


async def test_what_changed_within_months_is_no_value_of_a_day() -> None:
    """The statement of cash flows has a row of the same label: how inventories changed."""
    keys = {key: f"{key} Okeke Ferries.md" for key in QUARTERS}
    columns = ["Nine Months Ended December 31, 2022", "March 31, 2023", "June 30, 2023"]
    hits = [
        hit(
            file,
            f"Figures (in millions)\n\n| | {column} |\n|---|---|\n| Inventories | {value} |\n",
            list(keys.values()),
        )
        for file, column, value in zip(keys.values(), columns, ("1,049", "7,482", "7,351"), strict=True)
    ]
    told = await tell("How have inventories changed across the quarters?", hits)
    assert "1,049" not in told
    assert "No such value was surely found in: 2022 Q4 Okeke Ferries." in told
    assert "down by 131 million" in told

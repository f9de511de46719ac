"""Which questions are asked over several periods or versions, and which periods the names of columns say."""

import pytest

from core.text.periods import (
    NO_END,
    Newest,
    Period,
    asks_for_extremes,
    asks_over_periods,
    find_bounds,
    find_months,
    find_newest,
    find_quarters,
    find_range,
    is_within,
    leave_out_periods,
    read_period,
)


@pytest.mark.parametrize(
    "question",
    [
        "How has the turnover of Okeke Ferries developed?",
        "What was the load factor in each quarter?",
        "How do wages in the newest report compare to previous reports?",
        "Did the toll rise from year to year?",
        "How has the toll changed over the four quarters of 2025?",
        "What did the berth cost from 2021 to 2024?",
        "How did the noise level change between v1 and v3?",
        "Wie haben sich die Vorräte entwickelt?",
        "Wie hoch war die Quote in den einzelnen Quartalen?",
        "Was kostete der Liegeplatz von 2021 bis 2024?",
        "Comment les stocks ont-ils évolué au fil des trimestres ?",
        "Quelle est l'évolution du résultat net ?",
        "What was the toll from Q1 2025 to Q4 2025?",
        "In which quarter were the stocks lowest?",
        "In which quarter of 2025 were the stocks lowest?",
        "In welchem Quartal des Jahres 2025 waren die Vorräte am höchsten?",
        "How has the toll developed over 2025?",
        "Wie haben sich die Vorräte im Laufe des Jahres 2025 entwickelt?",
        "Wann waren die Vorräte am höchsten?",
        "What was the toll in Q3 2025 compared to the prior-year quarter?",
        "Wie war der Umsatz im 2. Quartal 2025 im Vergleich zum Vorquartal?",
        "Compare the toll of Q1 2025 with Q3 2025.",
    ],
)
def test_a_question_over_periods_is_recognised(question: str) -> None:
    assert asks_over_periods(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was the turnover in Q3 2023?",
        "How did the toll change in Q3 2023?",
        "In which quarter was the bridge opened?",
        "In which quarter of 2025 was the bridge opened?",
        "What was the toll over 2025?",
        "How did the toll develop in 2025?",
        "What was the toll compared to the prior-year quarter?",
        "How did the toll change over the quarters of 2023 in Q3 2024?",
        "What changed in version 2?",
        "Why did the turnover fall over the quarters?",
        "What are the reasons for the change compared to previous quarters?",
        "What did the original lease say on each period?",
        "How long is the notice period?",
        "Who signed the lease?",
        "Warum sind die Kosten gestiegen?",
        "How has " + "the turnover of ferries " * 50 + "changed over time?",
    ],
)
def test_a_question_about_one_version_or_about_reasons_is_not_over_periods(question: str) -> None:
    assert not asks_over_periods(question)


def test_a_range_names_the_versions_between_its_ends() -> None:
    bounds = find_range("How did the toll change between 2021 and 2023?")
    assert bounds == ("2021", "2023")
    assert find_bounds("In which quarter of 2025 was the toll highest?") == ("2025", "2025")
    assert find_bounds("How has the toll developed during 2025?") == ("2025", "2025")
    assert find_bounds("Who crossed the bridge during 2025?") is None
    assert [is_within({year, "q1"}, bounds) for year in ("2020", "2021", "2022", "2023", "2024")] == [0, 1, 1, 1, 0]
    versions = find_range("from v2 to v10")
    assert versions == ("v2", "v10")
    assert [is_within({mark}, versions) for mark in ("v1", "v2", "v9", "v10", "2021")] == [0, 1, 1, 1, 0]
    assert find_range("in 2021") is None
    assert find_range("in 2021, 2022") is None


@pytest.mark.parametrize(
    ("name", "period"),
    [
        ("Three Months Ended July 1, 2023", Period(year=2023, month=7, day=1, months=3)),
        ("Nine Months Ended October 30, 2022", Period(year=2022, month=10, day=30, months=9)),
        ("31.12.2024", Period(year=2024, month=12, day=31)),
        ("2024-03-31", Period(year=2024, month=3, day=31)),
        ("30 juin 2023", Period(year=2023, month=6, day=30)),
        ("31. März 2024", Period(year=2024, month=3, day=31)),
        ("Q2 2024", Period(year=2024, month=6, months=3)),
        ("Plan 2023", Period(year=2023)),
    ],
)
def test_the_name_of_a_column_says_its_period(name: str, period: Period) -> None:
    found = read_period(name)
    assert found is not None
    assert (found.year, found.month, found.day, found.months) == (period.year, period.month, period.day, period.months)
    assert found.name == name


@pytest.mark.parametrize("name", ["Change", "2023 to 2024", "Price (GBP)", "12,023", "Room 20231"])
def test_another_name_says_no_period(name: str) -> None:
    assert read_period(name) is None


def test_periods_end_in_the_order_of_time() -> None:
    names = ["2022", "June 30, 2023", "July 1, 2023", "2023"]
    assert sorted(names, key=lambda name: period.end if (period := read_period(name)) else ()) == names


def test_what_else_a_question_over_periods_says() -> None:
    assert asks_for_extremes("In which quarter was the turnover highest?")
    assert not asks_for_extremes("How has turnover changed?")
    assert not asks_for_extremes("What was turnover in the most recent quarter?")
    assert not asks_for_extremes("Has turnover grown by at least a tenth?")
    assert find_months("the first nine months of the year") == 9
    assert "quarters" not in leave_out_periods("How has turnover changed over the reported quarters?")


def test_since_a_year_has_no_end() -> None:
    assert find_bounds("How has the toll changed since 2021?") == ("2021", NO_END)
    assert find_bounds("Wie hat sich die Maut nach 2021 entwickelt?") == ("2022", NO_END)
    assert find_bounds("How did the toll change between 2021 and 2023?") == ("2021", "2023")
    assert find_bounds("How has the toll changed over the four quarters of 2025?") == ("2025", "2025")
    assert find_bounds("How has the toll changed over time?") is None


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("from Q3 2024 to Q1 2025", ((2024, 3), (2024, 4), (2025, 1))),
        ("in Q1 and Q3 2025", ((2025, 1), (2025, 3))),
        ("Q3 2025, year over year", ((2024, 3), (2025, 3))),
        ("in the first quarter of 2025, sequentially", ((2024, 4), (2025, 1))),
        ("im dritten Quartal 2025 gegenüber dem Vorjahr", ((2024, 3), (2025, 3))),
        ("in the second quarter of fiscal 2025", ((2025, 2),)),
    ],
)
def test_the_quarters_of_a_question(question: str, wanted: tuple[tuple[int, int], ...]) -> None:
    quarters = find_quarters(question)
    assert quarters is not None
    assert quarters.wanted == wanted


@pytest.mark.parametrize(
    "question", ["in 2025", "in Q3", "in Q3 2025, year over year and sequentially", "from Q1 to Q4", "Q5 2025"]
)
def test_no_quarter_is_sure(question: str) -> None:
    assert find_quarters(question) is None


def test_the_newest_periods_are_counted() -> None:
    assert find_newest("over the last four quarters") == Newest(count=4, are_years=False)
    assert find_newest("in den letzten drei Jahren") == Newest(count=3, are_years=True)
    assert find_newest("au cours des 5 derniers exercices") == Newest(count=5, are_years=True)
    assert find_newest("over the last quarters") is None

"""Which part of a company grew or fell most between two quarters."""

import pytest

from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_periods.parts import find_parts_asked
from tests.unit.reasoning.extractive.test_series import hit, tell

KEYS = ["Okeke Ferries Q1 2023.md", "Okeke Ferries Q2 2023.md"]
TABLE = """# Okeke Ferries

## {title} by segment

| EUR million | {now} | {before} |
|---|---|---|
| Coast | {coast} | 40 |
| Islands | {islands} | 10 |
| Freight | {freight} | 30 |
| Group | {total} | 80 |
"""


def reports(title: str = "Revenue") -> list[Hit]:
    first = TABLE.format(title=title, now="Q1 2023", before="Q1 2022", coast=50, islands=10, freight=30, total=90)
    last = TABLE.format(title=title, now="Q2 2023", before="Q2 2022", coast=56, islands=15, freight=28, total=99)
    return [hit(key, text, KEYS) for key, text in zip(KEYS, (first, last), strict=True)]


async def test_each_part_is_told_and_the_greatest_change_is_computed() -> None:
    told = await tell("Which segment of Okeke Ferries grew most between Q1 2023 and Q2 2023?", reports())
    lines = told.split("\n\n")
    assert lines[:2] == ["Coast, Q1 2023: 50 million EUR [1]", "Coast, Q2 2023: 56 million EUR [2]"]
    assert lines[-1] == "Computed: up most: Coast, by 6 million EUR; in percent: Islands, +50.0 %."
    assert "Group" not in told


async def test_a_fall_is_told_as_one() -> None:
    told = await tell("Which segment fell most from Q1 2023 to Q2 2023?", reports())
    assert told.endswith("Computed: down most: Freight, by 2 million EUR; in percent: -6.7 %.")


async def test_the_same_quarter_of_the_year_before_stands_in_the_same_row() -> None:
    told = await tell("Which segment grew most in Q2 2023 year over year?", reports()[1:])
    assert told.endswith("Computed: up most: Coast, by 16 million EUR; in percent: Islands, +50.0 %.")


async def test_a_table_of_another_measure_is_not_read() -> None:
    question = "Which segment grew most between Q1 2023 and Q2 2023?"
    assert "up most" not in await tell(question, reports("Operating profit"))
    assert "up most" in await tell(
        question.replace("segment", "segment's operating profit"), reports("Operating profit")
    )


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Which region declined fastest from Q1 2023 to Q2 2023?", True),
        ("Welche Sparte ist von Q1 2023 bis Q2 2023 am stärksten gewachsen?", True),
        ("Which segment grew more from Q1 2023 to Q2 2023?", True),
        ("From Q1 2023 to Q2 2023, which segment grew more?", True),
        ("Which segments grew more than 10 % from Q1 2023 to Q2 2023?", False),
        ("Which segment grew more slowly than Coast from Q1 2023 to Q2 2023?", False),
        ("Which segment grew more from Q1 2023 to Q2 2023 than Coast?", False),
        ("Which segment grew most slowly from Q1 2023 to Q2 2023?", False),
        ("Which segment grew by at most 3 % from Q1 2023 to Q2 2023?", False),
        ("Which segment grew most?", False),
        ("Which segment grew in Q1 2023?", False),
        ("How did the segment grow from Q1 2023 to Q2 2023?", False),
    ],
)
def test_questions_for_the_part_that_changed_most_are_known(question: str, is_asked: bool) -> None:
    assert (find_parts_asked(question) is not None) is is_asked


def _table(quarter: str, values: dict[str, int]) -> str:
    rows = "\n".join(f"| {label} | {value} |" for label, value in values.items())
    return f"# Okeke Ferries\n\n## Revenue by segment\n\n| EUR million | {quarter} |\n|---|---|\n{rows}\n"


async def test_a_part_that_is_as_much_as_the_others_is_no_total_beside_a_total() -> None:
    first = {"Coast": 30, "Islands": 10, "Freight": 30, "Total": 70}
    last = {"Coast": 43, "Islands": 15, "Freight": 28, "Total": 86}
    hits = [hit(key, _table(key[-10:-3], values), KEYS) for key, values in zip(KEYS, (first, last), strict=True)]
    told = await tell("Which segment grew most between Q1 2023 and Q2 2023?", hits)
    assert told.endswith("Computed: up most: Coast, by 13 million EUR; in percent: Islands, +50.0 %.")
    assert "Total" not in told


async def test_a_part_that_one_report_lacks_is_named() -> None:
    first = {"Coast": 50, "Islands": 10, "Mail": 4}
    last = {"Coast": 56, "Islands": 15, "Freight": 28}
    hits = [hit(key, _table(key[-10:-3], values), KEYS) for key, values in zip(KEYS, (first, last), strict=True)]
    told = await tell("Which segment grew most between Q1 2023 and Q2 2023?", hits)
    assert told.endswith(
        "+50.0 %. Not compared, because a value of one of the quarters was not found: Mail, Freight."
    ), told

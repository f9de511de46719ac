"""Who reports to whom, who joined when, and what is counted if two words name the rows."""

import pytest

from reasoning.strategies.extractive.over_rows.question.relations import find_list_query, say_as_columns
from tests.unit.reasoning.extractive.test_rows_of_delimited_files import _lines

CLINIC = """Nurse,Post,Ward,Supervisor,Start date
Ada Moe,Matron,North,Jon Vale,2019-04-01
Bo Lind,Ward nurse,North,Ada Moe,2023-02-01
Cy Hume,Ward nurse,South,Ada Moe,2024-09-16
Dee Park,Night nurse,South,Bo Lind,2024-11-04
"""
PARTS = """Part,Maker,Part order,State
Bolt,Kolb,B-1,Late
Nut,Kolb,B-2,Late
Cog,Huber,B-3,Late
Pin,Huber,B-4,Sent
"""
POWER = """Plant,Year,Net production (MWh)
Dam,2022,400
Wind,2022,900
Dam,2023,800
Wind,2023,700
"""


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("How many direct reports does Ada Moe have?", ["2 rows"]),
        ("How many people report to Bo Lind?", ["1 row"]),
        ("Who reports to Ada Moe?", ["Bo Lind: Supervisor: Ada Moe", "Cy Hume: Supervisor: Ada Moe"]),
        ("To whom does Cy Hume report?", ["Cy Hume: Supervisor: Ada Moe"]),
        ("To whom does the Night nurse report?", ["Dee Park: Supervisor: Bo Lind"]),
        ("To whom does the Ward nurse report?", None),
        ("How many people report to the Matron?", None),
        ("Who joined in 2024?", ["Cy Hume: Start date: 2024-09-16", "Dee Park: Start date: 2024-11-04"]),
        ("Who hired Cy Hume in 2024?", None),
        ("Who is the supervisor of Bo Lind and what is his start date?", None),
    ],
)
def test_relations_are_read_from_the_columns_that_tell_them(question: str, lines: list[str] | None) -> None:
    assert _lines(question, [("nurses", CLINIC)]) == lines


@pytest.mark.parametrize(
    ("question", "lines"),
    [("How many part orders are late?", ["3 rows"]), ("How many makers are late?", ["2 different “Maker”"])],
)
def test_the_last_of_two_words_says_what_is_counted(question: str, lines: list[str]) -> None:
    assert _lines(question, [("part orders", PARTS)]) == lines


def test_the_most_of_what_a_column_is_of_is_an_amount() -> None:
    lines = _lines("Which plant produced the most power in 2023?", [("power", POWER)])
    assert lines == ["Dam: Net production (MWh), total: 800 (1 value)"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who manages Bo Lind?", "Who is the manager of Bo Lind?"),
        ("Which employees are managed by Bo Lind?", "Which rows have Bo Lind as manager?"),
        ("How many people does Bo Lind manage?", "How many rows have Bo Lind as manager?"),
        ("Wie viele Mitarbeiter berichten an Bo Lind?", "Wie viele Zeilen haben Bo Lind als Vorgesetzten?"),
        ("An wen berichtet Bo Lind?", "Wer ist der Vorgesetzte von Bo Lind?"),
        ("Which reports go to Bo Lind?", "Which reports go to Bo Lind?"),
    ],
)
def test_questions_are_said_in_words_of_columns(question: str, said: str) -> None:
    assert say_as_columns(question) == said


@pytest.mark.parametrize(
    ("question", "has_list"),
    [
        ("Who joined Solberg in 2024?", True),
        ("Who reports to Ada Moe?", True),
        ("Wer wurde 2024 eingestellt?", True),
        ("Who joined Solberg?", False),
        ("Which member states joined the treaty?", False),
        ("Who signed the lease in 2024?", False),
    ],
)
def test_a_list_of_persons_is_searched_for_questions_that_need_it(question: str, has_list: bool) -> None:
    assert bool(find_list_query(question)) is has_list

"""Values that stand beside the asked one."""

import pytest

from reasoning.citations.neighbours import find_neighbour
from reasoning.reading import find_beside, find_unlinked

ACCIDENTS = """Site report
Accidents
Site | Q1 2025 | Q3 2025 | Q4 2025
Site: Kiel | Q1 2025: 4 | Q3 2025: 3 | Q4 2025: 1
Site: Bergen | Q1 2025: 0 | Q3 2025: 5 | Q4 2025: 2"""
KIEL = "How many accidents were there in Kiel in Q3 2025?"
SALES = """Ravelin Mills
| (in millions) | 2024 | 2023 |
|---|---|---|
| Net sales | 4,120 | 3,980 |
| Cost of sales | 2,310 | 2,240 |
| Operating income | 610 | 540 |"""


@pytest.mark.parametrize(
    ("answer", "neighbour"),
    [("3", ""), ("4", "Kiel, Q1 2025"), ("1", "Kiel, Q4 2025"), ("5", "Bergen, Q3 2025"), ("2", "Bergen, Q4 2025")],
)
def test_a_cell_of_another_row_or_column(answer: str, neighbour: str) -> None:
    assert find_neighbour(answer, KIEL, ACCIDENTS) == neighbour
    assert bool(find_unlinked(answer, KIEL, [ACCIDENTS])) is bool(neighbour)


@pytest.mark.parametrize(
    ("answer", "question", "is_other"),
    [
        ("1", "How many accidents were there in Kiel in the fourth quarter of 2025?", False),
        ("3", "How many accidents were there in Kiel in the fourth quarter of 2025?", True),
        ("4,120", "What was the revenue of Ravelin Mills in 2024?", False),
        ("2,310", "What was the revenue of Ravelin Mills in 2024?", True),
        ("3,980", "What was the revenue of Ravelin Mills in 2024?", True),
        ("610", "What was the operating profit in 2024?", False),
        ("4,120", "What was the operating profit in 2024?", True),
        ("2,310", "How much did the production cost in 2024?", False),
    ],
)
def test_terms_that_say_the_same_name_rows_and_columns(answer: str, question: str, *, is_other: bool) -> None:
    passage = ACCIDENTS if "accidents" in question else SALES
    assert bool(find_neighbour(answer, question, passage)) is is_other


def test_of_labels_within_each_other_the_longest_is_named() -> None:
    assets = SALES.replace("Net sales", "Total current assets").replace("Cost of sales", "Total assets")
    assert find_neighbour("4,120", "How much were the total current assets in 2024?", assets) == ""
    assert find_neighbour("2,310", "How much were the total current assets in 2024?", assets) == "Total assets, 2024"
    assert find_neighbour("2,310", "How much were the total assets in 2024?", assets) == ""


@pytest.mark.parametrize("answer", ["4,120", "3,980"])
def test_a_question_that_names_no_row_or_column_chooses_none(answer: str) -> None:
    assert find_neighbour(answer, "How much was sold?", SALES) == ""


def test_a_row_that_is_asked_for_is_no_neighbour() -> None:
    assert find_neighbour("Bergen", "Which site had 5 accidents in Q3 2025?", ACCIDENTS) == ""


HOTEL = "Travel\nThe limit is 140 EUR a night, and 190 EUR a night in London, Oslo and Zurich."
RATE = "Halcyon\nThe default sample rate rises from 96 kHz to 192 kHz."
LEASE = "Lease\nIt was signed by both parties on 9 January 2024. The lease ends on 31 December 2028."
LEAVE = (
    "Werft Kiel\nBeschäftigte erhalten 30 Tage Urlaub im Jahr. Schichtarbeiter erhalten drei weitere Tage. "
    "Resturlaub verfällt am 30. Juni."
)
GROWTH = "Ravelin Mills\nRevenue grew from 5 million in 2022 to 6 million in 2023."


@pytest.mark.parametrize(
    ("passage", "question", "right", "wrong"),
    [
        (HOTEL, "What is the hotel limit a night in Oslo?", "190 EUR", "140 EUR"),
        (RATE, "What is the default sample rate since Halcyon 4.2.0?", "192 kHz", "96 kHz"),
        (LEASE, "When does the lease end?", "31 December 2028", "9 January 2024"),
        (LEAVE, "Wie viele weitere Tage Urlaub erhalten Schichtarbeiter?", "drei", "30 Tage"),
    ],
)
def test_a_value_of_another_part_of_the_text(passage: str, question: str, right: str, wrong: str) -> None:
    assert find_neighbour(right, question, passage) == ""
    assert find_neighbour(wrong, question, passage)


@pytest.mark.parametrize(
    ("passage", "question", "answer"),
    [
        (RATE, "What was the default sample rate before?", "96 kHz"),
        (GROWTH, "What was the revenue in 2022?", "5 million"),
        (GROWTH, "What was the revenue in 2023?", "6 million"),
        (LEASE, "When was it signed?", "9 January 2024"),
        (LEAVE, "Wie viele Tage Urlaub erhalten Beschäftigte im Jahr?", "30"),
        (HOTEL, "What is the limit a night?", "140 EUR"),
        ("Opening\nIt is open from 9 to 17 o'clock.", "From when is it open?", "9 o'clock"),
        ("Poll\nIn 2019 Ayala had 48 %, but Borg only 36 %.", "What share did Borg have in 2019?", "36 %"),
    ],
)
def test_the_asked_value_is_no_neighbour(passage: str, question: str, answer: str) -> None:
    assert find_neighbour(answer, question, passage) == ""


@pytest.mark.parametrize(
    ("answer", "question", "is_beside"),
    [
        ("2,310", "What was the revenue of Ravelin Mills in 2024?", True),
        ("3,980", "What was the revenue of Ravelin Mills in the year before 2024?", False),
        ("2024", "What was the revenue of Ravelin Mills in 2024?", True),
        ("4,120", "What was the revenue of Ravelin Mills in 2024?", False),
        ("810", "How much did revenue and operating income differ?", False),
    ],
)
def test_other_models_are_held_to_what_is_sure(answer: str, question: str, *, is_beside: bool) -> None:
    assert bool(find_beside(answer, question, [SALES])) is is_beside
    assert (
        find_beside(answer, question, [SALES, f"Other\nOf {question} it is said: {answer}."]) == () or answer == "2024"
    )


def test_an_answer_may_follow_from_several_sentences() -> None:
    assert find_unlinked("9 January 2024", "When does the lease end?", [LEASE])
    assert find_beside("9 January 2024", "When does the lease end?", [LEASE]) == ()


def test_a_number_of_the_question_is_no_answer() -> None:
    question = "What was the revenue of Ravelin Mills in 2024?"
    assert find_unlinked("2024", question, [SALES]) == ("a value that the question does not have itself",)
    assert find_unlinked("1901", "Was it founded in 1901 or 1902?", ["Ravelin Mills\nIt was founded in 1901."]) != (
        "a value that the question does not have itself",
    )


def test_what_is_counted_must_be_there() -> None:
    heads = ACCIDENTS.replace("Accidents", "Headcount")
    assert find_unlinked("3", KIEL, [heads]) == ("accidents",)
    assert find_unlinked("3", KIEL, [ACCIDENTS]) == ()

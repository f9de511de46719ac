"""Which questions are about several named things, and the question of each."""

import pytest

from reasoning.strategies.extractive.sides import split_sides


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        (
            "Compare the revenue of Norwick and Belvane in Q4 2023",
            {
                "Norwick": "What was the revenue of Norwick in Q4 2023",
                "Belvane": "What was the revenue of Belvane in Q4 2023",
            },
        ),
        (
            "Compare the load of PX-3 and PX-7",
            {"PX-3": "What is the load of PX-3", "PX-7": "What is the load of PX-7"},
        ),
        (
            "Who is older, the director of Alien or the director of Jaws?",
            {"Alien": "Who is older, the director of Alien?", "Jaws": "Who is older, the director of Jaws?"},
        ),
        (
            "Which breed is from Germany, Rex or Bello?",
            {"Rex": "Which breed is from Germany, Rex?", "Bello": "Which breed is from Germany, Bello?"},
        ),
        (
            "Consider the NDA between Orrin and Halden; may Bob and Alice share it?",
            {
                "Bob": "Consider the NDA between Orrin and Halden; may Bob share it?",
                "Alice": "Consider the NDA between Orrin and Halden; may Alice share it?",
            },
        ),
    ],
)
def test_each_side_has_its_question(question: str, sides: dict[str, str]) -> None:
    found = split_sides(question)
    assert found is not None
    assert found.questions == sides


def test_more_than_two_sides_are_found() -> None:
    found = split_sides("What are the hotel limits of Norwick, Belvane and Tarsa?")
    assert found is not None
    assert list(found.questions) == ["Norwick", "Belvane", "Tarsa"]
    assert found.joined == "Norwick, Belvane and Tarsa"
    choice = split_sides("Which is larger: Ulm, Bonn or Trier?")
    assert choice is not None
    assert list(choice.questions) == ["Ulm", "Bonn", "Trier"]


@pytest.mark.parametrize(
    "question",
    [
        "Does the NDA between Ottmann and Falkner expire?",
        "When did Norwick buy Belvane and who sold it?",
        "Where is Ulm, Bavaria?",
        "Did Q3 2023 and Q4 2023 differ?",
        "Who founded Norwick?",
        "how do norwick and belvane compare",
        "Compare " + ", ".join(f"Party{letter}" for letter in "ABCDEF") + " and PartyG",
        "Norwick and Belvane " * 100,
    ],
)
def test_a_question_about_one_thing_or_many_has_no_sides(question: str) -> None:
    assert split_sides(question) is None


def test_the_difference_between_two_things_has_sides() -> None:
    found = split_sides("What is the difference between the leases of Rome and Lyon?")
    assert found is not None
    assert list(found.questions) == ["Rome", "Lyon"]


def test_a_name_keeps_its_s_unless_all_are_possessive() -> None:
    found = split_sides("Compare the net sales of Macy's and Belvane in Q4 2023")
    assert found is not None
    assert found.questions["Macy"] == "What was the net sales of Macy's in Q4 2023"
    owned = split_sides("Which are Norwick's and Belvane's sales?")
    assert owned is None or owned.questions["Norwick"] == "Which are Norwick's sales?"

"""The steps of a procedure that a question asks for."""

from dataclasses import replace

import pytest

from core.ports.retrieval import PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.steps import asks_for_steps, find_steps
from reasoning.strategies.extractive.quoting.units import list_units
from testing.word_search import hit

STEPS = "1. Open the lid.\n2. Lift the old filter out.\n   It may drip.\n3. Close the lid."
TEXT = f"Wear gloves.\n\n{STEPS}\n\nThe lamp turns green. Filters cost 9 euros."


def steps_of(question: str, heading: str, text: str) -> str | None:
    asked = read_question(question, PassageCounts())
    made = hit("a", "Kiln 3 manual", text)
    made = replace(made, chunk=replace(made.chunk, heading=heading))
    found = find_steps(question, asked, list_units(asked, [made], 200))
    return None if found is None else found[1].text


@pytest.mark.parametrize(
    ("question", "heading", "text", "steps"),
    [
        ("How do I change the filter?", "4.2 Changing the filter", TEXT, STEPS),
        ("What are the steps to change the filter of kiln 3?", "Changing the filter", TEXT, STEPS),
        ("Wie wechsle ich den Filter?", "Filter wechseln", TEXT, STEPS),
        ("How do I change it?", "Filters", f"To change a filter:\n{STEPS}", f"To change a filter:\n{STEPS}"),
        ("How do I change the filter?", "Cleaning the door", TEXT, None),
        ("How do I read the kiln manual?", "Changing the filter", TEXT, None),
        ("How much does a new filter cost?", "Changing the filter", TEXT, None),
        ("How do I change the filter?", "Changing the filter", "1. Open the lid.\n\nIt opens to the left.", None),
        ("How do I change the filter?", "Changing the filter", "2. Open the lid.\n3. Lift it.", None),
        ("How do I change the filter?", "Changing the filter", "1. A first fee is 9 euros.\n2. The next is 20.", None),
        ("How do I change a filter?", "Filters", "Reasons to change a filter:\n1. Wrong size\n2. Damage", None),
    ],
)
def test_the_numbered_list_of_a_procedure(question: str, heading: str, text: str, steps: str | None) -> None:
    assert steps_of(question, heading, text) == steps


def test_a_long_list_is_cut_behind_a_step() -> None:
    text = "\n".join(f"{number}. {'Turn the wheel. ' * 12}" for number in range(1, 20))
    found = steps_of("How do I change the filter?", "Changing the filter", text)
    assert found is not None
    assert len(found) <= 1500
    assert found.startswith("1. Turn")
    assert found.endswith("wheel.")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How can we reset it?", True),
        ("Wie wird der Riemen gewechselt?", True),
        ("Comment remplacer la courroie ?", True),
        ("How long do I wait?", False),
        ("Wie hoch ist der Preis?", False),
        ("How does the pump work?", False),
    ],
)
def test_questions_for_steps(question: str, *, expected: bool) -> None:
    assert asks_for_steps(question) is expected

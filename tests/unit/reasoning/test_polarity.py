"""Answers that say the opposite of what they cite."""

import pytest

from reasoning.citations.polarity import find_contradiction
from tests.unit.reasoning.verdicts import LATER_RIGHT, LATER_WRONG, RIGHT, WRONG


@pytest.mark.parametrize(("question", "answer", "passage"), RIGHT + LATER_RIGHT)
def test_a_right_answer_is_not_contradicted(question: str, answer: str, passage: str) -> None:
    assert find_contradiction(answer, question, [f"Lease of Halden\n{passage}"]) == ""


@pytest.mark.parametrize(("question", "answer", "passage"), WRONG + LATER_WRONG)
def test_a_wrong_answer_is_contradicted(question: str, answer: str, passage: str) -> None:
    assert find_contradiction(answer, question, [f"Lease of Halden\n{passage}"])


@pytest.mark.parametrize(
    ("question", "answer", "passage"), [case for case in RIGHT if case[1] in ("no", "nein", "non")]
)
def test_its_opposite_is(question: str, answer: str, passage: str) -> None:
    opposite = {"no": "yes", "nein": "ja", "non": "oui"}[answer]
    if "warehouse" not in question:  # who smokes there is not said
        assert find_contradiction(opposite, question, [f"Lease of Halden\n{passage}"])


@pytest.mark.parametrize(
    ("answer", "is_contradicted"),
    [
        ("The pump stops because the seal is destroyed by heat within two minutes.", False),
        ("The pump stops because the seal is not destroyed by heat within two minutes.", True),
        ("The seal must be replaced by a technician each year.", False),
        ("The seal need not be replaced by a technician each year.", True),
    ],
)
def test_a_sentence_is_compared_with_the_clause_that_has_its_words(answer: str, is_contradicted: bool) -> None:
    passage = (
        "TX-40\nAt a dry run the pump stops, since the shaft seal is destroyed by heat within two minutes. "
        "The seal must be replaced each year by a technician."
    )
    assert bool(find_contradiction(answer, "Why does the pump stop?", [passage])) is is_contradicted


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("May the tenant keep pets?", "partly: with consent"),
        ("May the tenant not keep pets?", "yes"),
        ("What may the tenant keep?", "nothing"),
        ("The landlord keeps pets. May the tenant keep one?", "no"),
        ("Consider the lease; who pays?", "no tenant pays"),
    ],
)
def test_what_is_neither_yes_nor_no_is_not_judged(question: str, answer: str) -> None:
    assert find_contradiction(answer, question, ["Lease\nThe tenant shall not keep pets."]) == ""


def test_other_clauses_with_as_many_words_agree() -> None:
    """Which of them is meant is not known."""
    passage = "Rules\nPets are allowed in the garden. Pets are not allowed in the hall."
    assert find_contradiction("yes", "Are pets allowed?", [passage]) == ""
    assert find_contradiction("yes", "Are pets allowed in the hall?", [passage]) == "Pets are not allowed in the hall."


def test_reasons_are_compared_with_their_answer() -> None:
    passage = "Rules\nDogs are welcome."
    assert find_contradiction("yes: dogs are not allowed", "Are dogs allowed?", [passage]) == "dogs are not allowed"

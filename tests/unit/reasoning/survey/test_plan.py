"""What a survey reads from its question."""

import pytest

from reasoning.strategies.survey.plan import Plan, asks_for_all, read_number, read_plan


def words(plan: Plan) -> list[str]:
    return [sought.written for sought in plan.sought]


@pytest.mark.parametrize(
    ("question", "kind", "sought"),
    [
        ("How many of our contracts are governed by Delaware law?", "contracts", ["governed", "Delaware", "law"]),
        ("List every incident in which a pump failed", "incident", ["pump", "failed"]),
        ("In which contracts may the agreement be assigned?", "contracts", ["assigned"]),
        ("Which documents mention the entire agreement?", "", ["entire", "agreement"]),
        ("Wie viele Verträge nennen Bremen?", "Verträge", ["Bremen"]),
        ("Which incident reports mention a valve?", "reports", ["valve"]),
        ("Which contract documents mention Halden?", "contract", ["Halden"]),
        ("How many invoices are there?", "invoices", []),
        ("Which reports mention the net sales of 2024?", "reports", ["net sales", "2024"]),
    ],
)
def test_the_kind_and_the_words(question: str, kind: str, sought: list[str]) -> None:
    plan = read_plan(question)
    assert (plan.kind, words(plan), plan.unit) == (kind, sought, "")


def test_words_before_the_kind_may_stand_anywhere() -> None:
    plan = read_plan("Which privacy policies use cookies?")
    assert ([one.written for one in plan.of_kind], words(plan)) == (["privacy"], ["use", "cookies"])


@pytest.mark.parametrize(
    ("question", "negated", "absence"),
    [
        ("Which contracts may be assigned without consent?", True, False),
        ("Which contracts may not be assigned without consent?", False, False),
        ("Which contracts do not mention arbitration?", False, True),
        ("Which contracts have no arbitration clause?", False, True),
        ("Which contracts are without an arbitration clause?", False, True),
        ("Which policies say that they do not sell data?", True, False),
        ("Which contracts end no later than 2027?", False, False),
    ],
)
def test_negation_turns_the_condition_or_asks_for_absence(question: str, negated: bool, absence: bool) -> None:
    plan = read_plan(question)
    assert (plan.is_negated, plan.is_absence) == (negated, absence)


@pytest.mark.parametrize(
    ("question", "least", "most", "strict"),
    [
        ("Which invoices exceed 10,000 EUR?", 10_000, None, True),
        ("Which contracts run for at least three years?", 3, None, False),
        ("Which contracts end before 2027?", None, 2027, True),
        ("Which contracts run up to five years?", None, 5, False),
    ],
)
def test_a_comparison_is_read_as_bounds(question: str, least: float | None, most: float | None, strict: bool) -> None:
    found = read_plan(question).comparison
    assert found is not None
    assert (found.least, found.most, found.is_strict) == (least, most, strict)


def test_what_is_no_kind_of_document_is_told() -> None:
    assert read_plan("How many employees work at Acme?").unit == "employees"


def test_what_code_cannot_decide_is_named() -> None:
    assert read_plan("List every incident in which a pump failed, by year").unread == ("by year",)


@pytest.mark.parametrize("question", ["", "???", "\U0001f600", "How many are there?"])
def test_a_question_without_words_is_empty(question: str) -> None:
    assert read_plan(question).is_empty


def test_numbers_of_things_and_quoted_phrases_stand_literally() -> None:
    assert read_plan('Which reports on V-3 say "force majeure"?').phrases == ("force majeure", "V-3")


@pytest.mark.parametrize(
    ("text", "value"),
    [("10,000", 10_000), ("1.234,50", 1234.5), ("2.5", 2.5), ("five", 5), ("$ 3", 3), ("12.3.2026", None)],
)
def test_numbers_as_they_are_written(text: str, value: float | None) -> None:
    assert read_number(text) == value


def test_forms_and_numbers_count_as_one_word() -> None:
    failed, five = read_plan("Which pumps failed in five days?").sought[1:3]
    assert {frozenset(["fail"]), frozenset(["failur"])} <= failed.wording
    assert {frozenset(["five"]), frozenset(["5"])} <= five.wording


def test_a_long_question_is_cut() -> None:
    plan = read_plan("Which contracts mention " + " ".join(f"word{n}" for n in range(1000)) + "?")
    assert len(plan.sought) == 24


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many of our contracts are governed by Delaware law?", True),
        ("List all incidents in which a pump failed", True),
        ("Wie viele Verträge nennen Bremen?", True),
        ("How many invoices are disputed?", True),
        ("How many people work at Belvane?", False),
        ("Which contract mentions Halden?", False),
        ("What does the contract say about notice?", False),
        ("", False),
    ],
)
def test_whether_a_few_passages_can_answer_is_told(question: str, expected: bool) -> None:
    assert asks_for_all(question) is expected

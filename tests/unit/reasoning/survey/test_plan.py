"""What a survey reads from its question."""

import pytest

from reasoning.strategies.survey.grouping import Grouping
from reasoning.strategies.survey.kinds import asks_for_all
from reasoning.strategies.survey.plan import Plan, read_number, read_plan
from reasoning.strategies.survey.totals import Aggregate, How
from tests.counted_lines import count_lines


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
    assert read_plan("Which offers cost between 3 and 5 EUR?").unread == ("between 3",)


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


@pytest.mark.parametrize(
    ("question", "name", "least", "most", "kind"),
    [
        ("How many contracts are there per supplier?", "supplier", None, None, "contracts"),
        ("List every incident in which a pump failed by year", "year", None, None, "incident"),
        ("For each supplier, how many invoices are unpaid?", "supplier", None, None, "invoices"),
        ("Wie viele Verträge gibt es pro Kunde?", "Kunde", None, None, "Verträge"),
        ("Which suppliers are in more than two contracts?", "suppliers", 3, None, "contracts"),
        ("Which customers have at least 4 invoices?", "customers", 4, None, "invoices"),
        ("Which suppliers are in fewer than two contracts?", "suppliers", None, 1, "contracts"),
        ("Which suppliers are in exactly two contracts?", "suppliers", 2, 2, "contracts"),
    ],
)
def test_what_is_grouped_by(question: str, name: str, least: int | None, most: int | None, kind: str) -> None:
    plan = read_plan(question)
    assert plan.grouping == Grouping(name=name, least=least, most=most)
    assert plan.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "Which contracts were signed by engineers?",
        "How many contracts were signed by Halden?",
        "Which contracts have more than two parties?",
        "Which invoices were paid by customer 17?",
        "Which reports have more than two pages?",
    ],
)
def test_what_is_no_group(question: str) -> None:
    assert read_plan(question).grouping is None


@pytest.mark.parametrize(
    ("question", "how", "of", "kind"),
    [
        ("What is the total amount over the unpaid invoices?", How.SUM, "amount", "invoices"),
        ("What is the sum of the amounts over all invoices?", How.SUM, "amounts", "invoices"),
        ("What is the total of the invoices?", How.SUM, "total", "invoices"),
        ("What is the mean net price over the offers per supplier?", How.MEAN, "net price", "offers"),
        ("What was the lowest price in all offers?", How.LEAST, "price", "offers"),
        ("What is the maximum of the invoices?", How.MOST, "amount", "invoices"),
        ("What is the highest invoice?", How.MOST, "amount", "invoice"),
        ("Which invoice has the lowest net price?", How.LEAST, "net price", "invoice"),
        ("How much do the unpaid invoices come to in total?", How.SUM, "total", "invoices"),
        ("Wie hoch ist die Summe aller Rechnungen?", How.SUM, "total", "Rechnungen"),
        ("Was ist die Summe der offenen Rechnungen von Norwind?", How.SUM, "total", "Rechnungen"),
        ("Wie hoch ist die Summe der Beträge aller Rechnungen?", How.SUM, "Beträge", "Rechnungen"),
        ("Wie hoch ist der Gesamtbetrag der unbezahlten Rechnungen?", How.SUM, "total", "Rechnungen"),
        ("Wie hoch ist der Durchschnitt aller Rechnungen?", How.MEAN, "amount", "Rechnungen"),
        ("Wie hoch ist der durchschnittliche Betrag aller Rechnungen?", How.MEAN, "Betrag", "Rechnungen"),
        ("Was ist die höchste Rechnung?", How.MOST, "amount", "Rechnung"),
        ("Welche Rechnung ist die niedrigste?", How.LEAST, "amount", "Rechnung"),
        ("Was ist der kleinste Nettobetrag in den Angeboten?", How.LEAST, "Nettobetrag", "Angeboten"),
        ("Wie hoch sind alle Rechnungen insgesamt?", How.SUM, "total", "Rechnungen"),
        ("Was kosten die Bestellungen zusammen?", How.SUM, "total", "Bestellungen"),
        ("Quelle est la somme de toutes les factures ?", How.SUM, "total", "factures"),
        ("Quel est le montant moyen des factures impayées ?", How.MEAN, "montant", "factures"),
        ("Quelle est la facture la plus élevée ?", How.MOST, "amount", "facture"),
        ("Quel est le montant le plus bas des commandes ?", How.LEAST, "montant", "commandes"),
        ("Combien coûtent les commandes au total ?", How.SUM, "total", "commandes"),
        ("What is the total of all payments?", How.SUM, "total", ""),
    ],
)
def test_what_is_added_up(question: str, how: How, of: str, kind: str) -> None:
    plan = read_plan(question)
    assert (plan.aggregate, plan.kind) == (Aggregate(how=how, of=of), kind)


@pytest.mark.parametrize(
    "question",
    [
        "What is the highest mountain in Asia?",
        "What is the total length of the Nile?",
        "What is the largest contract manufacturer?",
        "What is the highest court whose order is binding?",
        "Was ist der höchste Berg in Asien?",
        "Wie hoch ist das Haus?",
        "Quelle est la plus haute montagne ?",
        "Which contract is the highest authority for all parties?",
    ],
)
def test_what_is_not_added_up(question: str) -> None:
    assert read_plan(question).aggregate is None


def test_questions_with_the_same_condition_have_the_same() -> None:
    asked = [
        "How many contracts are governed by Delaware law?",
        "Which of our contracts are governed by Delaware law?",
        "List all contracts that are governed by Delaware law, by year",
    ]
    assert {read_plan(question).condition for question in asked} == {"contract: governed by Delaware law"}


def test_whether_all_is_asked_for_reads_no_condition() -> None:
    """Each question pays for it, and a condition may be long."""
    short = "How many contracts are governed by Delaware law?"
    long = short + " and mention many other things" * 60
    asks_for_all(short)  # fills caches
    assert asks_for_all(long)
    most = 2 * count_lines(lambda: asks_for_all(short), "reasoning")
    assert (
        count_lines(lambda: asks_for_all(long), "reasoning") < most < count_lines(lambda: read_plan(long), "reasoning")
    )

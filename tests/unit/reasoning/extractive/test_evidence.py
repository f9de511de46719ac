"""The evidence of units, and the decision by it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.evidence import (
    COSINES,
    FEATURES,
    Floats,
    cover_units,
    decide,
    decide_by,
    find_only_shares,
    find_openings,
    find_other_subjects,
    measure_evidence,
)
from reasoning.strategies.extractive.quoting.units import list_units
from reasoning.strategies.extractive.quoting.weights import WITH_COSINES, WITHOUT_COSINES
from testing.word_search import hit

COUNTS = PassageCounts(passages=100, having={"arbitr": 20, "sole": 2, "side": 30, "letter": 10, "sign": 10})


def evidence_of(question: str, *hits: Hit, cosine: float = 0.0) -> tuple[list[str], list[Mapping[str, float]], Floats]:
    asked = read_question(question, COUNTS)
    units = list_units(asked, hits, 200)
    cosines = np.full(len(units), cosine), np.full(len(hits), cosine)
    rows = measure_evidence(asked, units, cover_units(asked, hits, units), *cosines)
    return [unit.text for unit in units], [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()], rows


def test_words_count_where_they_stand() -> None:
    found = hit("letter", "Side letter", "It was signed by Pieter van Dalen. A copy is in the file.")
    _, [signed, copy], _ = evidence_of("Who signed the side letter?", found)
    assert 0 < signed["in_unit"] < 1
    assert signed["in_unit"] + signed["in_context"] == pytest.approx(1)
    assert copy["in_unit"] == 0
    assert copy["in_context"] == pytest.approx(signed["in_context"])
    assert copy["beside"] == pytest.approx(signed["in_unit"])
    assert (signed["rarest_missing"], signed["rarest_missing_near"], signed["found_nowhere"]) == (0, 0, 0)
    assert (signed["value"], signed["no_value"], copy["value"], copy["no_value"]) == (1, 0, 0, 1)


def test_what_is_denied_is_found() -> None:
    texts, rows, _ = evidence_of("Are fees refundable?", hit("a", "", "All fees are nonrefundable. Fees are due soon."))
    assert texts[0].startswith("All")
    assert rows[0]["in_unit"] == pytest.approx(1)
    assert rows[1]["in_unit"] < 1


def test_a_row_has_the_words_of_its_columns() -> None:
    text = "Name | Hourly rate\nTomas Okeke | 345\nBo Lind | 290\nAda Moe | 310\n"
    texts, rows, _ = evidence_of("What is the hourly rate of Tomas Okeke?", hit("a", "", text))
    assert texts[0] == "Tomas Okeke | 345"
    assert rows[0]["in_unit"] + rows[0]["in_context"] == pytest.approx(1)
    assert (rows[0]["row"], rows[0]["value"]) == (1, 1)
    assert rows[0]["in_unit"] > rows[1]["in_unit"]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What were the net sales in Q4 2023?", "Period: Q4 2023; Revenue: 102.4; Net income: 9.1"),
        ("What was the revenue in the fourth quarter of 2023?", "Period: Q4 2023; Revenue: 102.4; Net income: 9.1"),
        ("What was the price in March 2008?", "Date: Mar 1 2008; Price: 143.5"),
        ("Who is the CEO?", "Ada Moe is chief executive officer."),
    ],
)
def test_a_unit_has_a_word_in_other_words(question: str, row: str) -> None:
    _, [said, other], _ = evidence_of(question, hit("a", "", f"{row}\nPeriod: Q3 2022; Loss: 7"))
    assert said["found_nowhere"] <= 0.11
    assert other["in_unit"] < 0.5
    assert said["in_unit"] > 0.89


def test_a_unit_has_a_word_by_a_term_that_means_about_the_same() -> None:
    question = "When may the renter cancel early?"
    _, [said, other], _ = evidence_of(
        question, hit("a", "", "Early termination by the lessee is permitted.\nPets are not.")
    )
    assert said["in_unit"] > 0.7
    assert other["in_unit"] < 0.2


def test_another_company_comes_last() -> None:
    named = hit("norwick", "Norwick Industries plc: results", "Revenue | 466.2\nTax | 301.5\n")
    other = hit("belvane", "Belvane SE: results", "Net sales | 233.1\nTrading was good.\n")
    asked = read_question("What were the net sales of Norwick in Q4?", COUNTS)
    units = list_units(asked, [other, named], 200)
    covered = cover_units(asked, [other, named], units)
    last = find_other_subjects(asked, covered, units)
    assert [unit.text for unit, is_last in zip(units, last, strict=True) if is_last] == [
        "Net sales | 233.1",
        "Trading was good.",
    ]
    cosines = np.zeros(len(units)), np.zeros(2)
    rows = measure_evidence(asked, units, covered, *cosines)
    assert units[decide(rows, has_cosines=False).order[0]].text == "Net sales | 233.1"
    assert units[decide(rows, has_cosines=False, last=last).order[0]].text == "Revenue | 466.2"


def test_the_beginning_of_a_document_says_whose_it_is() -> None:
    begin = hit("policy", "Policy", "Norwick plc, version 2.")
    clause, foreign = hit("policy", "Policy", "Tax is paid."), hit("other", "Other", "Tax is due.")
    clause = replace(clause, chunk=replace(clause.chunk, id="policy#1", position=1))
    titled = hit("norwick", "Norwick: results", "Revenue | 466.2")
    asked = read_question("When is tax of Norwick paid?", COUNTS)
    units = list_units(asked, [begin, clause, foreign, titled], 200)
    last = find_other_subjects(asked, cover_units(asked, [begin, clause, foreign, titled], units), units)
    assert [unit.text for unit, is_last in zip(units, last, strict=True) if is_last] == ["Tax is due."]


@pytest.mark.parametrize(
    "question",
    [
        "What were the net sales?",
        "What were the net sales of Tarsa?",  # no hit is about it
        "Which had more net sales, Norwick or Belvane?",
    ],
)
def test_no_passage_comes_last(question: str) -> None:
    hits = [hit("norwick", "Norwick: results", "Revenue | 466.2"), hit("belvane", "Belvane", "Net sales | 233.1")]
    asked = read_question(question, COUNTS)
    units = list_units(asked, hits, 200)
    assert not find_other_subjects(asked, cover_units(asked, hits, units), units).any()


OPENING = (
    "The lease is made between Marn Limited (the “Landlord”) and Tor Vik (the “Tenant”). The Tenant pays the taxes."
)


@pytest.mark.parametrize(
    ("question", "is_last"),
    [
        ("Does Tor Vik pay taxes for the lease?", True),
        ("When was the lease of Tor Vik made?", False),  # the opening tells it
        ("Who pays taxes for Tor Vik?", False),  # so it may
        ("Does the lease of Tor Vik allow a dog?", False),  # no unit says more
    ],
)
def test_the_opening_of_an_agreement_comes_behind_what_says_more(question: str, is_last: bool) -> None:
    hits = [hit("lease", "", OPENING), hit("other", "", "A dog pays no taxes. Taxes are allowed between dogs.")]
    asked = read_question(question, COUNTS)
    units = list_units(asked, hits, 200)
    last = find_openings(asked, cover_units(asked, hits, units), units)
    assert last.tolist() == [is_last, *[False] * (len(units) - 1)]


def test_words_that_are_missing() -> None:
    _, [row], _ = evidence_of("Who signed in Bolivia?", hit("a", "", "It was signed by Ada Moe."))
    assert (row["rarest_missing"], row["names_missing"]) == (1, 1)
    assert 0.5 < row["found_nowhere"] < 1


def test_endings_do_not_matter() -> None:
    _, [row], _ = evidence_of("Welche Bundesverfassungsgerichte?", hit("a", "", "Das Bundesverfassungsgericht tagt."))
    assert row["in_unit"] > 0


def test_a_question_without_words_has_evidence_without_words() -> None:
    _, rows, _ = evidence_of("Who is it?", hit("a", "", "Ada Moe came."))
    assert rows[0]["in_unit"] == 0


def test_every_weight_has_its_feature() -> None:
    for weights in (WITH_COSINES, WITHOUT_COSINES):
        assert {len(weights.rank), len(weights.answerable), len(weights.right)} == {len(FEATURES)}
    assert not any([*WITHOUT_COSINES.rank[-COSINES:], *WITHOUT_COSINES.answerable[-COSINES:]])


def test_the_best_unit_comes_first() -> None:
    found = hit("a", "Award", "The seat is Geneva. The sole arbitrator is Dr. Ines Hall. Costs are shared.")
    for has_cosines in (False, True):
        texts, _, rows = evidence_of("Who is the sole arbitrator?", found, cosine=0.6 * has_cosines)
        decision = decide(rows, has_cosines=has_cosines)
        assert texts[decision.order[0]] == "The sole arbitrator is Dr. Ines Hall."
        assert sorted(decision.order) == [0, 1, 2]
        foreign = decide(evidence_of("Which vaccines need Kenya?", found)[2], has_cosines=has_cosines)
        assert foreign.answerable < decision.answerable


def test_without_units_nothing_is_probable() -> None:
    decision = decide(np.zeros((0, len(FEATURES))), has_cosines=True)
    assert (decision.order, decision.answerable, decision.right) == ((), 0.0, 0.0)


def test_great_scores_are_probabilities() -> None:
    rows = np.full((1, len(FEATURES)), 1e6)
    huge = replace(WITH_COSINES, answerable=(1e6,) * len(FEATURES), right=(-1e6,) * len(FEATURES))
    decision = decide_by(huge, rows)
    assert decision.answerable == pytest.approx(1)
    assert decision.right == pytest.approx(0)


def test_a_reason_that_is_asked_for_counts_and_a_reference_counts_less() -> None:
    text = "See Note 4 on the margin of Oslo. The margin of Oslo fell due to rain.\n\nMargin | 4 | 5"
    _, [reference, reason, row], _ = evidence_of("Why did the margin of Oslo fall?", hit("a", "", text))
    assert (reference["refers"], reason["refers"], row["refers"]) == (1, 0, 0)
    assert reason["wanted"] > reference["wanted"] == row["wanted"] == 0
    assert (reference["no_sentence"], reason["no_sentence"], row["no_sentence"]) == (0, 0, 1)
    _, [asked, *_], _ = evidence_of("Which note is about the margin of Oslo?", hit("a", "", text))
    assert asked["refers"] == 0


def test_a_value_with_its_label_is_not_too_short() -> None:
    texts, rows, _ = evidence_of("What was the loss?", hit("a", "", "Loss: EUR 70.\n\nHeavy loss."))
    short = {text: row["few_words"] for text, row in zip(texts, rows, strict=True)}
    assert short == {"Loss: EUR 70.": 0, "Heavy loss.": 1}


@pytest.mark.parametrize(
    ("question", "text", "is_last"),
    [
        ("What were net sales in Peru?", "Net sales in Peru fell 4.9% in the three months ended June 30, 2024.", True),
        ("How many mills are leased?", "About 61% of the mills are leased.", True),
        ("What were net sales in Peru?", "Net sales in Peru fell 4.9% to $12 million.", False),
        ("What were net sales in Peru?", "Net sales in Peru were told in May.", False),
        ("By what percentage did net sales fall?", "Net sales fell 4.9%.", False),
        ("What is the income tax rate?", "The income tax rose to 21%.", False),
        ("What are income taxes?", "Income taxes are 21%.", False),
    ],
)
def test_percentages_are_no_answer_where_an_amount_is_asked_for(question: str, text: str, *, is_last: bool) -> None:
    asked = read_question(question, COUNTS)
    assert find_only_shares(asked, list_units(asked, [hit("a", "", text)], 9)).tolist() == [is_last]

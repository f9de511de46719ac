"""What `extractive` reads in a question: its words with their weights, and the kind of value that answers it."""

import pytest

from core.ports.retrieval import PassageCounts
from core.text.value_kinds import ValueKind, find_kind, find_signs, has_value
from reasoning.strategies.extractive.quoting.asked import read_question

NOTHING_KNOWN = PassageCounts()


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how many people can sit on the committee", ValueKind.NUMBER),
        ("Wie viele Einträge darf eine Crontab haben?", ValueKind.NUMBER),
        ("When was the bridge opened?", ValueKind.DATE),
        ("How long does a leader stay in office?", ValueKind.DURATION),
        ("What is the notice period of the lease?", ValueKind.DURATION),
        ("How much advance warning must they give?", ValueKind.DURATION),
        ("What is the liability cap?", ValueKind.NUMBER),
        ("en combien de jours le concédant peut-il mettre fin au contrat", ValueKind.DURATION),
        ("How old was Betty Jackson?", ValueKind.NUMBER),
        ("Who signed the side letter?", ValueKind.PERSON),
        ("Where was he born?", ValueKind.PLACE),
        ("Why is the sky blue?", ValueKind.NONE),
        ("leap_alarm", ValueKind.NONE),
    ],
)
def test_the_kind_of_value_that_is_asked_for(question: str, kind: ValueKind) -> None:
    assert find_kind(question) is kind


@pytest.mark.parametrize(
    ("question", "sentence", "has"),
    [
        ("How many members has it?", "2. A member may leave.", False),
        ("How many members has it?", "12.1 Termination ends it, as Section 7.2(b) says.", False),
        ("How many members has it?", "2. It has up to 8 members.", True),
        ("How many people live there?", "2.5 million people live there.", True),
        ("What is the fee?", "12.50 EUR is the fee for a copy.", True),
        ("Wie hoch ist die Miete?", "1.200 EUR beträgt die Miete.", True),
        ("What is the fee?", "12.1 EURIBOR applies to a fee.", False),
        ("What is the fee?", "Our fee is approx. EUR 4,500 net.", True),
        ("What is the fee?", "The fee is described below.", False),
        ("What is the fee for room 12?", "Room 12 has a fee.", False),
        ("What was the revenue?", "It fell in 2022 and in the third quarter of fiscal year 2023.", False),
        ("What was the revenue?", "Revenue, March 2023 | 2,000", True),
        ("What was the revenue?", "On May 5, 2023 and March 12 it was higher.", False),
        ("How many cases were found?", "The fault was found in 2000 cases.", True),
        ("How many people came?", "On May 5 people came.", True),
        ("In wie vielen Fällen gab es das?", "Es gab das in 2000 Fällen.", True),
        ("What is the share?", "The share was in May 5% in all.", True),
        ("How many guests came?", "Monday 12 visitors came.", True),
        ("How often is it checked?", "They may 20 times check it.", True),
        ("How old is the boy?", "He is a 5-year-old boy.", True),
        ("What is the maximum loan term?", "We grant a 60-month loan.", True),
        ("What was the revenue?", "It was lower in the nine-month period ended July 1, 2023.", False),
        ("How many live there?", "Of 2000 houses, few are left.", True),
        ("How long is the term?", "The term is thirty (30) days.", True),
        ("How long is the term?", "The term is described in annex 3.", False),
        ("When was it signed?", "It was signed on 3 April.", True),
        ("When was it signed?", "It was signed by all.", False),
        ("When was it signed in 2024?", "It was signed in 2024.", False),
        ("Who signed the side letter?", "It was signed by Pieter van Dalen.", True),
        ("Who signed the Side Letter?", "The Side Letter was signed.", False),
        ("Why?", "Because of 3 things.", False),
    ],
)
def test_a_value_is_new(question: str, sentence: str, has: bool) -> None:
    asked = read_question(question, NOTHING_KNOWN)
    assert has_value(asked.kind, sentence, stems=asked.stems, digits=asked.digits) is has


def test_rare_words_weigh_more_and_unknown_ones_most() -> None:
    counts = PassageCounts(passages=100, having={"contract": 60, "bowi": 1})
    words = {word.written: word for word in read_question("Is David a contract of Bowie?", counts).words}
    assert words["contract"].weight < words["Bowie"].weight < words["David"].weight
    assert (words["contract"].is_frequent, words["Bowie"].is_frequent) == (True, False)


@pytest.mark.parametrize("question", ["Wie ist das denn?", "Qu'est-ce que c'est ?", "What is it?"])
def test_small_words_of_any_language_do_not_count(question: str) -> None:
    assert not read_question(question, NOTHING_KNOWN).words


def test_signs_are_kept_whole() -> None:
    assert find_signs("See §6.3.1.5, EPSG 26948 and (leap_alarm).") == {"6.3.1.5", "26948", "leap_alarm"}
    [word] = read_question("§6.3.1.5", NOTHING_KNOWN).words
    assert (word.stem, word.is_name) == ("6.3.1.5", True)


def test_what_the_noun_behind_which_says() -> None:
    words = {word.written: word for word in read_question("Which city has which salary?", NOTHING_KNOWN).words}
    assert (words["city"].is_kind, words["salary"].is_kind) == (True, False)
    assert words["salary"].weight < 1


@pytest.mark.parametrize(
    ("question", "measure", "other"),
    [("How old is the tall house?", "old", "tall"), ("Wie hoch war der hohe Umsatz?", "hoch", "Umsatz")],
)
def test_the_word_for_a_measure_need_not_be_in_the_answer(question: str, measure: str, other: str) -> None:
    words = {word.written: word for word in read_question(question, NOTHING_KNOWN).words}
    assert words[measure].is_kind
    assert not words[other].is_kind


def test_words_that_are_typed_into_a_search_box_are_no_question() -> None:
    assert not read_question("oberlandesgericht karlsruhe", NOTHING_KNOWN).is_question
    assert read_question("how big can a page get", NOTHING_KNOWN).is_question
    yes_or_no = read_question("Is it big?", NOTHING_KNOWN)
    assert (yes_or_no.is_question, yes_or_no.is_open) == (True, False)


def test_a_pasted_text_costs_no_more() -> None:
    assert len(read_question(" ".join(f"word{n}" for n in range(20_000)), NOTHING_KNOWN).words) <= 60

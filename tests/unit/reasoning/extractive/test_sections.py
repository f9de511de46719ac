"""Sections of a log, which are counted and listed as rows."""

import asyncio
from dataclasses import replace

import pytest

from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_rows import answer_over_rows
from testing.word_search import hit
from tests.unit.reasoning.extractive.test_over_rows import _CORPUS, _Finder

_FAULTS = (
    (
        "FLT-01 – 2024-01-09 – Pump stops (high)",
        "- Crew: North\n- Cause: the fuse of the pump had blown again and again.",
    ),
    ("FLT-02 – 2024-02-11 – Lamp flickers (low)", "- Crew: South\n- Cause: a loose cable."),
    ("FLT-03 – 2024-04-02 – Gate stuck (high)", "- Crew: North\n- Cause: frost."),
    ("FLT-04 – 2023-04-20 – Horn silent (low)", "- Crew: North\n- Cause: a loose cable."),
)


def _log(*sections: tuple[str, str]) -> list[Hit]:
    hits = [hit("log", "Fault log of the lock", "Each fault is high or low, and has a crew.")]
    for position, (heading, text) in enumerate(sections, start=1):
        found = hit("log", "Fault log of the lock", text)
        chunk = replace(found.chunk, id=f"log#{position}", heading=heading, position=position)
        hits.append(replace(found, chunk=chunk))
    return hits


def _tell(question: str, hits: list[Hit]) -> str:
    found = asyncio.run(answer_over_rows(_Finder(hits), Question(corpus=_CORPUS, text=question), question, hits))
    return found.text if found else ""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many faults were high?", "2 sections [1] [2]"),
        ("How many faults were there in 2024?", "3 sections [1] [2] [3]"),
        ("How many faults had the crew North?", "3 sections [1] [2] [3]"),
        ("Which faults were high in 2024?", "FLT-01 (Pump stops): "),
        ("Who had the faults of 2024?", ""),
        ("How many faults were urgent?", ""),
    ],
)
def test_sections_are_counted_by_what_headings_and_short_fields_say(question: str, first: str) -> None:
    told = _tell(question, _log(*_FAULTS))
    assert told.startswith(first)
    assert bool(told) is bool(first)


def test_the_first_line_of_a_section_is_cited() -> None:
    hits = _log(*_FAULTS)
    question = Question(corpus=_CORPUS, text="How many faults were high?")
    found = asyncio.run(answer_over_rows(_Finder(hits), question, question.text, hits))
    assert found is not None
    assert [citation.quote for citation in found.citations] == ["- Crew: North", "- Crew: North"]


def test_headings_without_signs_of_one_kind_are_no_rows() -> None:
    named = [(f"Article {number} – Crew (high)", text) for number, (_, text) in enumerate(_FAULTS, start=1)]
    assert _tell("How many faults were high?", _log(*named)) == ""
    assert _tell("How many faults were high?", _log(*_FAULTS[:3])) == ""


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("FLT-05 – 2024-05-01 – Migration 2024 fails (high)", "4 sections"),
        ("FLT-05 – 2024-13-45 – Odd (high)", "3 sections"),
        ("FLT-05 – 05/06/2024 – Slash (high)", "3 sections"),
    ],
)
def test_a_year_is_a_time_and_no_word_of_a_title(heading: str, told: str) -> None:
    text = _tell("How many faults were there in 2024?", _log(*_FAULTS, (heading, "- Crew: East")))
    assert text.startswith(told)
    assert ("the date is missing or was not understood: 1" in text) is told.startswith("3")


def test_a_year_behind_a_word_of_the_title_is_of_the_title() -> None:
    hits = _log(*_FAULTS, ("FLT-05 – 2023-12-30 – Migration 2024 fails (high)", "- Crew: East"))
    told = _tell("How many faults of Migration 2024 were there?", hits)
    assert "Sections with Title: Migration 2024 fails: 1." in told


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many faults were high or had the crew South?", ""),
        ("How many faults were high or in 2023?", ""),
        ("How many faults were high or low?", "4 sections"),
        ("How many high faults had the crew North or South?", "2 sections"),
    ],
)
def test_or_between_two_fields_is_not_read_as_and(question: str, first: str) -> None:
    told = _tell(question, _log(*_FAULTS))
    assert told.startswith(first)
    assert bool(told) is bool(first)


@pytest.mark.parametrize("note", ["Crew: North", "North crew"])
@pytest.mark.parametrize("question", ["How many faults had the crew North?", "How many faults had North as crew?"])
def test_a_field_is_preferred_to_a_note_that_names_it(note: str, question: str) -> None:
    noted = ("FLT-00 – 2024-06-05 – Bell silent (low)", f"- Note: {note}\n- Crew: East")
    assert "Sections with Crew: North: 3." in _tell(question, _log(noted, *_FAULTS))

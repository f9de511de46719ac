"""Entries of manuals and change logs that a question names."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.entries import (
    find_dated_entry,
    find_entry,
    find_implied_entry,
    find_implied_option,
    has_entry,
)
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from testing.word_search import hit

MANUAL = (
    "The program packs folders. It can be called with -q and -w.\n\n"
    "-q --quiet\nWrite no messages. Errors are written.\n\n"
    "-w, --watch=SECONDS\n      Pack again when a file changes.\n\n"
    "--depth N  Go down N folders at most.\n"
)


def units_of(question: str, *hits: Hit) -> list[Unit]:
    return list_units(read_question(question, PassageCounts()), hits, 200)


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("What does -q do?", "-q --quiet\nWrite no messages."),
        ("What is --watch for?", "-w, --watch=SECONDS\n      Pack again when a file changes."),
        ("What does --depth do?", "--depth N  Go down N folders at most."),
    ],
)
def test_an_option_is_described_by_its_entry(question: str, entry: str) -> None:
    found = find_entry(question, units_of(question, hit("m", "", MANUAL)))
    assert found is not None
    assert found[1].text == entry
    assert MANUAL[found[1].span.start : found[1].span.end] == entry


@pytest.mark.parametrize(
    "question", ["What does -x do?", "Do -q and -w exclude each other?", "What is a well-known port?"]
)
def test_other_questions_have_no_entry(question: str) -> None:
    assert find_entry(question, units_of(question, hit("m", "", MANUAL))) is None


def test_a_sentence_may_lead_to_an_option() -> None:
    assert find_implied_option("This option implies --watch, but not -q.") == "--watch"
    assert find_implied_option("Files are watched.") == ""
    manual = hit("m", "", MANUAL)
    assert has_entry("--watch", manual)
    assert not has_entry("--loud", manual)
    leading = hit("n", "", "--sync\nThe option implies --watch, so changes of files are packed.")
    units = units_of("How are changes of files packed?", leading, manual)
    (first,) = [unit for unit in units if "implies" in unit.text]
    (entry,) = [unit for unit in units if "Pack again" in unit.text]
    assert find_implied_entry([first, entry]) == (1, entry)
    assert find_implied_entry([entry, first]) is None
    assert find_implied_entry([]) is None


def test_a_date_may_stand_in_a_heading() -> None:
    log = hit("kettle-CHANGES.md", "", "- The lid closes. It is tight.")
    log = replace(log, chunk=replace(log.chunk, heading="3.1.0 (2024-02-09) › Fixes"))
    question = "When was kettle 3.1.0 released?"
    asked = read_question(question, PassageCounts())
    found = find_dated_entry(asked, units_of(question, log))
    assert found is not None
    assert found[1] == "3.1.0 (2024-02-09)"
    for other in ("When was kettle 3.2.0 released?", "Who released kettle 3.1.0?", "When did 3.1.0 break the spout?"):
        assert find_dated_entry(read_question(other, PassageCounts()), units_of(other, log)) is None


@pytest.mark.parametrize(
    ("heading", "is_date"),
    [
        ("3.1.0", False),
        ("3.1.0 (unreleased, planned 2030-01-01)", False),
        ("3.1.0 fixes the fault of 2019-01-01", False),
        ("3.1.0 (2024-02-09, 2024-03-01)", False),
        ("[3.1.0] - 2024-02-09", True),
        ("Kettle 3.1.0, released on 9 February 2024", True),
        ("3.1.0 (February 2024)", True),
    ],
)
def test_only_a_day_or_a_month_of_a_year_beside_the_name_is_its_date(heading: str, is_date: bool) -> None:
    log = hit("kettle-CHANGES.md", "", "- The lid closes. It is tight.")
    log = replace(log, chunk=replace(log.chunk, heading=heading))
    question = "When was kettle 3.1.0 released?"
    found = find_dated_entry(read_question(question, PassageCounts()), units_of(question, log))
    assert (found is not None) == is_date

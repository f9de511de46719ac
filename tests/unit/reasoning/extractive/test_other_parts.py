"""Units of other parts and other times than a question names."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.other_parts import (
    find_other_parts,
    lacks_outlook,
    tells_other_post,
    tells_other_time,
)
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from reasoning.strategies.extractive.quoting.writing import write
from testing.word_search import hit


def under(heading: str, text: str, title: str = "Kiln log") -> Hit:
    made = hit(heading or "x", title, text)
    return replace(made, chunk=replace(made.chunk, heading=heading))


def units_of(question: str, *hits: Hit) -> list[Unit]:
    return list_units(read_question(question, PassageCounts()), hits, 200)


C, D = under("Batch C", "It was dried for 6 hours."), under("Batch D", "It was dried for 9 hours.")
ROWS = under("", "Batch: C; Hours: 6\nBatch: D; Hours: 9")


@pytest.mark.parametrize(
    ("question", "hits", "other", "missing"),
    [
        ("How long was batch C dried?", (C, D), [False, True], ()),
        ("How long was batch C dried?", (ROWS,), [False, True], ()),
        ("How long was batch C or D dried?", (C, D), [False, False], ()),
        ("How long was batch E dried?", (C, D), [True, True], ("batch E",)),
        ("How long was batch E dried?", (under("Notes", "It was dried for 2 hours."),), [False], ()),
        ("How long was batch E dried?", (under("Batch C", "Unlike batch E, it was dried for 2 hours."),), [False], ()),
        ("How long was batch 4 dried?", (under("Batch V", "Unlike batch IV, for 2 hours."),), [False], ()),
        ("How long was batch 4 dried?", (under("Batch V", "It was dried for 2 hours."),), [True], ("batch 4",)),
        ("How long was batch E dried?", (under("", "The wood of batch C was dried for 2 hours."),), [False], ()),
        ("How long was batch 9 dried?", (under("", "Batch: 7 and later; Hours: 6"),), [False], ()),
        ("How long was batch 9 dried?", (under("", "Batch: 7; Hours: 6"),), [True], ("batch 9",)),
        (
            "How long was batch 9 dried?",
            (under("", "Batch: 6; Hours: 5\nBatch: 7 and later; Hours: 6"),),
            [True, False],
            (),
        ),
        (
            "How long was batch E dried?",
            (under("", "Wood: oak; Note: dried like the wood of batch C, for 2 hours"),),
            [False],
            (),
        ),
        ("How long was it dried?", (C, D), [False, False], ()),
        ("How long does KL-9 dry?", (under("", "It dries for 2 hours.", "KL-7_manual"),), [True], ("KL-9",)),
        ("How long does KL-7 dry?", (under("", "It dries for 2 hours.", "KL7 manual"),), [False], ()),
        ("How long does KL-9 dry?", (under("", "KL-9 dries for 2 hours.", "KL-7 manual"),), [False], ()),
        ("How hot is Glühol E9?", (under("", "It is 90 °C hot.", "SDS_Gluehol_E7"),), [True], ("Glühol E9",)),
        (
            "How hot is KL-9?",
            (under("", "Kiln | KL-7 | KL-8\nHeat (C) | 90 | 95\nMass (t) | 2 | 3\n"),),
            [True, True],
            ("KL-9",),
        ),
        (
            "How hot is KL-8?",
            (under("", "Kiln | KL-7 | KL-8\nHeat (C) | 90 | 95\nMass (t) | 2 | 3\n"),),
            [False, False],
            (),
        ),
    ],
)
def test_units_of_other_parts(
    question: str, hits: tuple[Hit, ...], other: list[bool], missing: tuple[str, ...]
) -> None:
    found = find_other_parts(question, units_of(question, *hits))
    assert (found.other.tolist(), found.missing) == (other, missing)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many kilns burned in 2031?", "Year: 1985; Kilns: 7\nYear: 1986; Kilns: 8", True),
        ("How many kilns burned in 1986?", "Year: 1985; Kilns: 7\nYear: 1986; Kilns: 8", False),
        ("How many kilns burned since 1980?", "Year: 1985; Kilns: 7\nYear: 1986; Kilns: 8", False),
        ("How many kilns burned in 2031?", "Seven kilns burned in all.", False),
        ("How many kilns burned in 2024?", "In 2024, nine kilns burned, two more than in 2023.", False),
        ("How many kilns burned in 2018?", "By 12.03.2018 nine kilns burned, and in 1999 two.", False),
        ("How many kilns burned in 2021?", "Year: FY2021; Kilns: 7\nYear: 1986; Kilns: 8", False),
        ("How many kilns burned in 2021?", "In 1986 the kilns burned 2021,500 logs.", True),
        ("How long did the drill of November 2026 take?", "The drill of 6 May 2026 took 9 minutes.", True),
        ("How long did the drill of May 2026 take?", "The drill of 6 May 2026 took 9 minutes.", False),
        ("How long did the drill of November 2026 take?", "It took 9 minutes on 6 May 2026; November is next.", False),
    ],
)
def test_a_time_that_nothing_tells(question: str, text: str, *, expected: bool) -> None:
    assert tells_other_time(question, units_of(question, hit("k", "Kilns", text))) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the wage of the CFO?", True),
        ("What is the wage of the chief  financial officer?", True),
        ("What is the COO's wage?", False),
        ("What is the wage of the chief executive?", False),
        ("What is the wage of the officer?", False),
    ],
)
def test_a_post_that_nothing_tells(question: str, *, expected: bool) -> None:
    text = "The Chief Operating Officer reports to the CEO. The wage of the Executive is $9."
    assert tells_other_post(question, units_of(question, hit("k", "Deed", text))) is expected
    assert not tells_other_post(question, units_of(question, hit("k", "Deed", "The wage of the manager is $9.")))
    for other in ("The head of finance has more.", "The finance director has more."):
        assert not tells_other_post(question, units_of(question, hit("k", "Deed", f"{text} {other}")))


def test_the_heading_of_a_release_tells_the_version() -> None:
    notes = under("2.6.1 (2025-12-08) › Added", "The whistle is back in the lid of the kettle.", "Kettle changelog")
    for question, label in [("Which version brought the whistle back?", "2.6.1 (2025-12-08): "), ("Is it back?", "")]:
        [written] = write(question, units_of(question, notes))
        assert written.label == label


def test_a_sentence_need_not_say_more_than_a_question_that_its_heading_answers() -> None:
    text = "The whistle was removed."
    notes = under("2.6.1 (2025-12-08) › Removed", text, "Kettle changelog")
    assert [unit.text for unit in units_of("Which version removed the whistle?", notes)] == [text]
    assert not units_of("Who removed the whistle?", notes)


def test_a_row_that_names_the_columns_of_records_is_no_unit() -> None:
    text = "Batch | Hours\nBatch: C | Hours: 6\nBatch: D | Hours: 9"
    assert [unit.text for unit in units_of("How long was batch C dried?", hit("k", "", text))] == text.split("\n")[1:]


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("Net income of fiscal 2024 was 5.", True),
        ("Fiscal 2025 ends on February 1, 2025. Net income was 5.", True),
        ("For 2025, we expect net income of 5.", False),
        ("Guidance for 2025: net income of 5.", False),
    ],
)
def test_what_was_is_no_outlook(text: str, *, lacks: bool) -> None:
    question = "What guidance did Orrin give for 2025 net income?"
    assert lacks_outlook(question, units_of(question, under("", text))) is lacks
    assert not lacks_outlook("What was net income in 2025?", units_of(question, under("", text)))

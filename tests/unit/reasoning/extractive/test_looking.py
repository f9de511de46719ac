"""Whether the question in the words of an agreement displaces the first reading."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.ports.reasoning import Question
from core.ports.retrieval import Hit, PassageCounts, SearchResult
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.parties import Reworded
from reasoning.strategies.extractive.looking import (
    Look,
    Searched,
    find_missing_sign,
    find_sign_without,
    search_reworded,
)
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.reading import Reading
from reasoning.strategies.extractive.quoting.units import list_units
from testing.word_search import CORPUS, RecordingSearcher, hit
from tests.twins.embedder import TwinEmbedder

OPENING = "Made between Marn plc (the “Employer”) and Tor Vik (the “Employee”)."
CONTRACT = hit("contract", "Contract", OPENING)
LEASE = hit("lease", "Lease", "Made between Orm AS (the “Landlord”) and Marn plc (the “Tenant”).")
REPORT = hit("report", "Report", "Marn plc repaid the loan.")


def read(text: str, found: Hit, right: float, lacking: Sequence[str] = (), *hits: Hit) -> Searched:
    asked = read_question(text, PassageCounts())
    reading = Reading(
        asked=asked,
        units=tuple(list_units(asked, [found], 9)),
        answerable=0.8 if right >= 0.3 else 0.1,
        right=right,
        lacking=tuple(lacking),
    )
    return Searched(text=text, found=SearchResult(hits=(found, *hits), generation=1), reading=reading)


async def ask(first: Searched, *again: Searched) -> Hit:
    async def find_openings(_: str) -> Sequence[Hit]:
        return ()

    async def search(reworded: Reworded) -> Searched:
        return next(found for found in again if found.found.hits[0].document.id in reworded.documents)

    return (await search_reworded(first, find_openings, search, Trace())).found.hits[0]


@pytest.mark.parametrize(
    ("question", "first", "again", "is_reworded"),
    [
        ("What must Marn pay?", (0.4, ["pay"]), (0.5, []), True),
        ("What must Marn pay?", (0.4, ["pay"]), (0.42, ["must"]), False),  # it says no more of what is asked
        ("What must Marn pay?", (0.4, []), (0.2, []), False),  # the agreement declines
        ("What must Marn pay?", (0.2, ["pay"]), (0.1, ["pay"]), False),  # both decline
        ("What must Vik pay?", (0.2, ["Vik"]), (0.1, []), True),  # nothing read has the name
        ("What must Marn pay Vik?", (0.2, []), (0.1, []), True),  # both parties
        ("What did Marn pay?", (0.4, ["pay"]), (0.6, []), False),  # a report tells what a party did
        ("What did Marn pay Vik?", (0.4, ["pay"]), (0.6, []), True),
    ],
)
async def test_the_better_reading_stays(
    question: str, first: tuple[float, list[str]], again: tuple[float, list[str]], is_reworded: bool
) -> None:
    taken = await ask(read(question, REPORT, *first, CONTRACT), read(question, CONTRACT, *again))
    assert (taken.document.id == "contract") == is_reworded


@pytest.mark.parametrize(("of_lease", "taken"), [(0.4, "lease"), (0.62, "report"), (0.8, "lease")])
async def test_of_several_agreements_the_surest_is_meant(of_lease: float, taken: str) -> None:
    first = read("What must Marn pay?", REPORT, 0.3, ["pay"], CONTRACT, LEASE)
    of_contract = 0.2 if of_lease == 0.4 else 0.6
    found = await ask(first, read("", CONTRACT, of_contract), read("", LEASE, of_lease))
    assert found.document.id == taken


@pytest.mark.parametrize(("title", "side"), [("MACY’S, INC.", "Macy's"), ("Macy Inc.", "Macy")])
def test_a_side_is_called_as_a_title_calls_it(title: str, side: str) -> None:
    question = "What were Macy's sales?"
    found = read(question, hit("m", title, "Sales were 5."), 0.8)
    look = Look(question=question, side="Macy", hits=found.found.hits, reading=found.reading, seconds=0)
    look = replace(look, reading=replace(look.reading, features=np.zeros((len(look.reading.units), 1))))
    assert look.prefer_side().side == side


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the notice period of SC-2022-009?", "SC-2022-009"),
        ("What is the notice period of SC-2022-008?", ""),
        ("Who signed SC 2022 009?", ""),
        ("What does INC-0412 say of SC-2022-008?", "INC-0412"),
        ("What changed in Q3-2023?", ""),
        ("Is the MR-1 in use?", ""),
    ],
)
def test_a_sign_that_no_passage_has_is_missing(question: str, missing: str) -> None:
    hits = [hit("a.txt", "Contract SC 2022-008", "Either party may end it."), hit("sop/x.txt", "x", "Nothing.")]
    assert find_sign_without(question, hits) == missing


async def test_a_sign_below_the_hits_of_the_question_is_not_missing() -> None:
    found = [hit("a.txt", "Contract SC-2022-008", "Either party may end it."), hit("b.txt", "Pump", "Has SC-2022-009.")]
    backends = ReasoningBackends(searcher=RecordingSearcher("words", found, []), embedder=TwinEmbedder())
    for sign, missing in (("SC-2022-009", ""), ("SC-2022-010", "SC-2022-010")):
        text = f"How is {sign} ended?"
        read_first = read(text, found[0], 0.5)
        look = Look(question=text, side="", hits=(found[0],), reading=read_first.reading, seconds=0)
        asked = Question(corpus=CORPUS, text=text)
        assert await find_missing_sign(backends, asked, look, Trace()) == missing

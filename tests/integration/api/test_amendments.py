"""An answer that cites a clause says which sentence of an amendment changes it, and a model reads both."""

from dataclasses import replace
from typing import Any

import pytest

from app.services.questions import SearchRequest, search
from app.services.validity import Amendments, select_in_force
from app.services.validity.amendments import Insertion, insert_quotes, take_out
from core.documents import DocumentRef, Span
from core.ports.reasoning import Citation, Question
from core.trace import Trace
from reasoning.engine.session import Session
from tests.integration.api.conftest import Server
from tests.integration.api.test_validity import CORPUS

AGREEMENT: dict[str, Any] = {
    "key": "oak-elm/msa.md",
    "title": "Cleaning Agreement",
    "text": (
        "This Cleaning Agreement is made as of March 1, 2023 between Oak LLC (“Client”) and Elm Ltd (“Supplier”).\n\n"
        "2.1 The Cleaning Agreement has an initial term of three (3) years.\n\n"
        "2.2 Windows are cleaned within fourteen (14) days after each request."
    ),
    "entities": ["Oak LLC"],
}
SENTENCE = "In Section 2.1 of the Agreement, the words “three (3) years” are replaced by “five (5) years”."
AMENDMENT: dict[str, Any] = {
    "key": "oak-elm/a1.md",
    "title": "Amendment 1",
    "text": (
        "This Amendment No. 1 is entered into as of September 15, 2024 between Oak LLC (“Client”) and Elm Ltd"
        " (“Supplier”), and amends the Cleaning Agreement between them dated March 1, 2023 (the “Agreement”).\n\n"
        f"1. Extension. {SENTENCE}"
    ),
    "entities": ["Oak LLC"],
}
QUOTING = "extractive:min_probability=0,sentences=1"
TERM = "What is the initial term of the Cleaning Agreement?"
WINDOWS = "Within how many days after each request are windows cleaned?"


@pytest.fixture
async def amended(server: Server) -> Server:
    await server.corpus(extractor="given", chunker="sentences")
    await server.ingest(AGREEMENT, AMENDMENT)
    return server


async def ask(server: Server, question: str, **body: Any) -> dict[str, Any]:
    asked = {"question": question, "reasoner": QUOTING, **body}
    answer = await server.client.post(f"{CORPUS}/ask", json=asked)
    assert answer.status_code == 200, answer.text
    given: dict[str, Any] = answer.json()
    return given


async def test_a_quoted_clause_stands_behind_the_sentence_that_changes_it(amended: Server) -> None:
    answer = await ask(amended, TERM)
    first, second = answer["citations"][:2]
    assert first["document"]["key"] == AMENDMENT["key"]
    assert first["quote"] == SENTENCE
    assert answer["answer"].startswith(f"{SENTENCE} [1]\n\n")
    assert second["document"]["key"] == AGREEMENT["key"]
    for citation in answer["citations"]:
        span = citation["answer_span"]
        behind = answer["answer"][span["end"] :]
        assert behind.startswith(f" [{citation['marker']}]")
    note = f"Section 2.1 of “Cleaning Agreement” is changed by “Amendment 1” since 2024-09-15 (“{SENTENCE}”)."
    assert note in answer["note"]


async def test_the_note_says_if_no_changed_clause_is_quoted(amended: Server) -> None:
    answer = await ask(amended, WINDOWS)
    assert answer["citations"][0]["quote"].startswith("2.2 Windows")
    assert answer["answer"].index("2.2 Windows") < 3
    assert "is changed by" not in answer["note"]
    unaffected = "“Cleaning Agreement” is amended by “Amendment 1” since 2024-09-15; the changes that were read there"
    assert f"{unaffected} (Section 2.1) are not of what is quoted here." in answer["note"]


async def test_the_note_says_if_an_amendment_may_have_other_changes(server: Server) -> None:
    await server.corpus(extractor="given", chunker="sentences")
    more = " The parties have agreed that Oak LLC pays USD 500 a year from now on."
    await server.ingest(AGREEMENT, {**AMENDMENT, "text": AMENDMENT["text"] + more})
    note = (await ask(server, WINDOWS))["note"]
    assert "“Cleaning Agreement” is amended by “Amendment 1” since 2024-09-15 (“This Amendment No. 1" in note
    assert "The changes that were read there (Section 2.1) are not of what is quoted here; other changes may" in note


async def test_the_sentence_of_an_amendment_that_is_quoted_behind_its_clause_goes_before_it(amended: Server) -> None:
    asked = "Is the initial term of three (3) years of the Cleaning Agreement replaced in Section 2.1?"
    answer = await ask(amended, asked, reasoner="extractive:min_probability=0,sentences=3")
    text = answer["answer"]
    assert 0 <= text.index(SENTENCE) < text.index("2.1 The Cleaning")
    assert text.count(SENTENCE) == 1
    assert answer["note"].count("is amended by") + answer["note"].count(" amends ") == 0
    for citation in answer["citations"]:
        span = citation["answer_span"]
        assert text[span["start"] : span["end"]].split() == citation["quote"].split()
        assert text[span["end"] :].startswith(f" [{citation['marker']}]")


async def test_an_amendment_changes_nothing_before_its_day_or_outside_the_filter(amended: Server) -> None:
    for body in ({"as_of": "2024-09-14"}, {"filter": {"$key": AGREEMENT["key"]}}):
        answer = await ask(amended, TERM, **body)
        assert SENTENCE not in answer["answer"]
        assert {citation["document"]["key"] for citation in answer["citations"]} == {AGREEMENT["key"]}


def cite(marker: int, start: int, end: int, quote: str = "") -> Citation:
    span = Span(start=start, end=end)
    document = DocumentRef(id="d", key="d", title="d", metadata={})
    return Citation(
        marker=marker, chunk_id="c", document=document, page=None, quote=quote, answer_span=span, source_span=span
    )


def test_markers_are_numbered_again_and_numbers_of_quotes_stay() -> None:
    text = "a [9] b [1]\n\nc [2] [1]"
    citations = [cite(1, 0, 7), cite(2, 13, 14), cite(1, 13, 14)]
    written, made = insert_quotes(text, citations, [Insertion(before=13, citation=cite(0, 0, 0, "new\nwords"))])
    assert written == "a [9] b [1]\n\nnew words [2]\n\nc [3] [1]"
    places = [(one.marker, written[one.answer_span.start : one.answer_span.end]) for one in made]
    assert places == [(1, "a [9] b"), (2, "new words"), (3, "c"), (1, "c")]


def test_the_paragraph_of_a_quote_is_taken_out() -> None:
    text = "old [1]\n\nother [2]\n\nnew [3]"

    old, other, new = citations = [cite(1, 0, 3), cite(2, 9, 14), cite(3, 20, 23)]
    assert take_out(text, citations, new) == ("old [1]\n\nother [2]", (old, other))
    rest = take_out(text, citations, other)
    assert rest is not None
    assert rest[0] == "old [1]\n\nnew [3]"
    assert rest[0][rest[1][1].answer_span.start : rest[1][1].answer_span.end] == "new"
    assert take_out("label: old [1]", [cite(1, 7, 10)], cite(1, 7, 10)) is None


async def test_a_model_is_shown_the_amendment_behind_its_clause(amended: Server) -> None:
    container = amended.container
    corpus = await container.record.corpora.get("people")
    hits = (await search(container, corpus, SearchRequest(query=TERM, k=9), Trace())).hits
    clauses = [hit for hit in hits if hit.document.key == AGREEMENT["key"]]
    selection = await select_in_force(container, [corpus], None, None)
    amendments = Amendments(container, selection)
    added = await amendments.add(clauses, None)
    (place,) = [place for place, hit in enumerate(added) if SENTENCE in hit.chunk.text]
    assert "2.1 The Cleaning" in added[place - 1].chunk.text
    assert len(added) == len(clauses) + 1
    assert await amendments.add(added, None) == added
    agreement = frozenset({clauses[0].document.id})
    assert await amendments.add(clauses, agreement) == tuple(clauses)

    question = Question(corpus=corpus, text=TERM, companions=amendments, documents=agreement)
    searcher = ("bridged", container.searcher(container.default_searcher))
    for documents, keys in ((agreement, {AGREEMENT["key"]}), (None, {AGREEMENT["key"], AMENDMENT["key"]})):
        session = Session("vanilla", replace(question, documents=documents), container.models, searcher, Trace())
        found = await session.search("2.1 The Cleaning Agreement has an initial term of three (3) years.", 1)
        assert {hit.document.key for hit in found} == keys

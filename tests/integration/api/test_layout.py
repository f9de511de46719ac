"""How hits are presented over HTTP: snippets, neighbours, and one hit for each document."""

from typing import Any

import pytest

from tests.integration.api.conftest import Server

LINES = ("The harbour is old.", "A lantern hangs there.", "The lantern is red.", "Nobody lit it.", "Ships came late.")
BOOK: dict[str, Any] = {"key": "book", "title": "Book", "chunks": [{"text": text, "page": 7} for text in LINES]}
NOTE: dict[str, Any] = {"key": "note", "title": "Note", "text": "No lantern here.", "metadata": {"year": 1990}}


async def search(server: Server, query: str, **fields: Any) -> list[dict[str, Any]]:
    body = {"query": query, "searcher": "sparse", **fields}
    answer = await server.client.post("/v1/corpora/people/search", json=body)
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def texts(chunks: list[dict[str, Any]]) -> list[str]:
    return [chunk["text"] for chunk in chunks]


@pytest.fixture
async def library(server: Server) -> Server:
    await server.corpus()
    await server.ingest(BOOK, NOTE)
    return server


async def test_a_hit_has_a_snippet_with_marks(library: Server) -> None:
    text = "A first line. Long ago the lanterns of 京都 burned."
    await library.ingest({"key": "long", "chunks": [{"text": text}]})
    [hit] = await search(library, "Which lantern burned?", filter={"$key": "long"})
    snippet = hit["snippet"]
    assert snippet["text"] == "Long ago the lanterns of 京都 burned."
    assert text[snippet["span"]["start"] : snippet["span"]["end"]] == snippet["text"]
    assert [snippet["text"][mark["start"] : mark["end"]] for mark in snippet["marks"]] == ["lanterns", "burned"]
    assert (hit["before"], hit["after"], hit["other_passages"]) == ([], [], [])


async def test_context_brings_each_neighbour_once(library: Server) -> None:
    hits = await search(library, "red lantern", filter={"$key": "book"}, context=1)
    assert [hit["chunk"]["text"] for hit in hits] == [LINES[2], LINES[1]]
    assert [(texts(hit["before"]), texts(hit["after"])) for hit in hits] == [([], [LINES[3]]), ([LINES[0]], [])]
    assert hits[0]["after"][0]["page"] == 7
    [hit] = await search(library, "red", context=5)
    assert (texts(hit["before"]), texts(hit["after"])) == (list(LINES[:2]), list(LINES[3:]))
    [apart] = [await search(library, "harbour ships", context=2)]
    shown = [text for hit in apart for text in texts([*hit["before"], hit["chunk"], *hit["after"]])]
    assert sorted(shown) == sorted(LINES)


async def test_context_is_of_the_revision_that_is_current(library: Server) -> None:
    changed = {**BOOK, "chunks": [{"text": text} for text in ("New.", LINES[2], "Newer.")]}
    await library.ingest(changed)
    [hit] = await search(library, "red", context=2)
    assert (texts(hit["before"]), texts(hit["after"])) == (["New."], ["Newer."])
    assert hit["chunk"]["page"] is None


async def test_hits_are_grouped_by_document(library: Server) -> None:
    many = [{"text": f"Lantern number {number}: a lantern, a lantern."} for number in range(60)]
    await library.ingest({"key": "catalogue", "title": "Catalogue", "chunks": many})
    hits = await search(library, "lantern", k=2, group_by="document")
    assert [hit["document"]["key"] for hit in hits] == ["catalogue", "note"]
    assert len(hits[0]["other_passages"]) == 59
    assert {*hits[0]["other_passages"][0]} == {"id", "position", "page", "span", "heading", "score"}
    assert hits[0]["score"] >= hits[0]["other_passages"][0]["score"]
    assert hits[1]["other_passages"] == []
    three = await search(library, "lantern", k=3, group_by="document", context=1)
    assert [hit["document"]["key"] for hit in three] == ["catalogue", "note", "book"]
    assert len(three[2]["other_passages"]) == 1
    assert len(three[2]["before"] + three[2]["after"]) == 2
    only = await search(library, "lantern", k=5, group_by="document", filter={"year": 1990})
    assert [hit["document"]["key"] for hit in only] == ["note"]


async def test_every_searcher_can_be_laid_out_and_wrong_fields_are_named(library: Server) -> None:
    for searcher in ("dense", "graph", "fused", "bridged"):
        hits = await search(library, "the red lantern", searcher=searcher, group_by="document", context=1, explain=True)
        keys = [hit["document"]["key"] for hit in hits]
        assert sorted(keys) == ["book", "note"], searcher
        assert len(hits[keys.index("book")]["other_passages"]) <= len(LINES) - 1
    for name, value in (("context", 6), ("context", -1), ("group_by", "chapter")):
        answer = await library.client.post("/v1/corpora/people/search", json={"query": "a", name: value})
        assert (answer.status_code, name in answer.json()["detail"]) == (422, True)
    await library.client.post("/v1/corpora/people/documents/delete", json={"keys": ["book"]})
    left = await search(library, "red lantern", context=5)
    assert [hit["document"]["key"] for hit in left] == ["note"], "what is deleted is no neighbour"


async def test_a_document_that_fills_all_that_is_searched_is_noted(library: Server) -> None:
    many = [{"text": f"Lantern {number}: a lantern, a lantern."} for number in range(1_001)]
    await library.ingest({"key": "catalogue", "title": "Catalogue", "chunks": many})
    body = {"query": "lantern", "searcher": "sparse", "k": 2, "group_by": "document"}
    found = (await library.client.post("/v1/corpora/people/search", json=body)).json()
    assert [hit["document"]["key"] for hit in found["hits"]] == ["catalogue"]
    assert len(found["hits"][0]["other_passages"]) == 999
    assert "grouped: the first 1,000 passages are of one document; others were not looked for" in found["notes"]

"""Corpora on one server: equal documents, and documents that look like commands."""

import pytest

from core import ids
from core.corpora import Fine
from core.ports.views import VectorKind
from core.text.query import any_of
from tests.desk import DOCUMENTS, Desk

pytestmark = pytest.mark.servers

_NASTY = "a'}) DETACH DELETE n //"
_SYNTAX = (
    _NASTY,
    '") DETACH DELETE n RETURN ("',
    "corpus_id:* OR +words:[* TO *]",
    "*:* AND NOT (",
    "a && b || !c ^2 ~3 \\",
    '"unbalanced (quotes',
    "$id} MATCH (n) DETACH DELETE n",
    "/.*/ {a TO z} [1 TO 2]",
    "`); MATCH (n) DELETE n; //",
)


async def test_equal_documents_in_two_corpora_are_apart(served: Desk) -> None:
    one, two = [await served.corpus(name, extractor="pattern+given", fine=Fine.ON) for name in ("one", "two")]
    for corpus in (one, two):
        await served.ingest(corpus, *DOCUMENTS)
    export = await served.export(one)
    assert await served.export(two) == export, "equal documents have equal ids anywhere"
    before = await served.view_ids(two)
    await served.delete(one, *[document["id"] for document in DOCUMENTS])
    assert await served.export(one) == ""
    assert await served.view_ids(one) == (set(), set(), set(), set())
    assert await served.export(two) == export
    assert await served.view_ids(two) == before
    await served.record.corpora.delete("one")
    await served.worker.work(two.id)
    assert await served.record.maintenance.list_deleted_corpora() == []
    assert await served.export(two) == export
    assert await served.view_ids(two) == before


async def test_no_question_of_one_sees_the_other(served: Desk) -> None:
    one, two = [await served.corpus(name) for name in ("one", "two")]
    await served.ingest(one, DOCUMENTS[0])
    await served.ingest(two, *DOCUMENTS)
    [only] = await served.text.search(one.id, any_of(("Charles", "Babbage", "London", "Analytical")), 10)
    vector = await served.embedder.embed_query("Charles Babbage designed the Analytical Engine in London.")
    [nearest] = await served.vectors.search(one.id, VectorKind.CHUNK, vector, 10)
    assert nearest.id == only.id
    generation, rows = await served.record.graph.graph(one.id)
    assert generation == 1
    assert {chunk.document_id for chunk in rows.chunks} == {ids.document_id(DOCUMENTS[0]["id"])}
    elsewhere = [chunk.id for chunk in await served.record.contents.get_chunks_of(two.id, ids.document_id("babbage"))]
    assert await served.record.contents.get_chunks(one.id, elsewhere) == {}
    assert await served.record.contents.get_facts_of(one.id, elsewhere) == []
    assert await served.record.contents.get_chunks_of(one.id, ids.document_id("babbage")) == []


async def test_documents_and_queries_that_look_like_commands_are_text(served: Desk) -> None:
    other = await served.corpus("other")
    await served.ingest(other, *DOCUMENTS)
    export = await served.export(other)
    corpus = await served.corpus("nasty", extractor="pattern+given", fine=Fine.ON)
    nasty = {
        "id": _NASTY,
        "title": _NASTY,
        "text": f"{_NASTY} said Ada Lovelace. {' '.join(_SYNTAX)}",
        "metadata": {_NASTY: _NASTY},
        "triples": [[_NASTY, _NASTY, "Ada Lovelace"], ["Ada Lovelace", "$x`", '")']],
    }
    await served.ingest(corpus, nasty)
    document = await served.record.documents.get(corpus.id, ids.document_id(_NASTY))
    assert (document.key, document.title, document.metadata) == (_NASTY, _NASTY, {_NASTY: _NASTY})
    for text in _SYNTAX:
        hits = await served.text.search(corpus.id, any_of((*text.split(), "Ada")), 10)
        found = (await served.record.contents.get_chunks_by_view(corpus.id, [hit.id for hit in hits])).values()
        assert {chunk.document_id for chunk in found} == {document.id}, text
        page = await served.record.documents.list(corpus.id, limit=10, key=text)
        assert [found.key for found in page.data] == ([_NASTY] if text == _NASTY else [])
    assert await served.export(other) == export
    await served.delete(corpus, _NASTY)
    assert await served.export(corpus) == ""
    assert await served.export(other) == export

"""The record in Neo4j: the contract, the order of keys, and what readers see of the slices of large documents."""

from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.ports.record import Record
from stores.neo4j.record import Neo4jRecord
from testing.contracts.record import RecordContract
from testing.graph_rows import told
from testing.record import export, put, revision

pytestmark = pytest.mark.servers

# Where code points, UTF-16 and UTF-8 disagree: beyond the first plane, and its last blocks.
KEYS = [
    "z",
    "a",
    "Z",
    "ä",
    "北",
    "\ue000",
    "\uffee",
    "\U0001f600",
    "\U00010000",
    "a\U0001f600",
    "a\uffee",
    "é",
    "e\u0301",
]


class TestNeo4jRecord(RecordContract):
    """Its fixtures are those of `conftest.py`."""


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_keys_are_ordered_by_code_point(record: Record, corpus: Corpus, limit: int) -> None:
    await record.submissions.enqueue(corpus.id, [revision(key) for key in KEYS], OnConflict.REPLACE)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await record.documents.list(corpus.id, limit=limit, cursor=cursor)
        seen += [document.key for document in page.data]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == sorted(KEYS)
    assert [d.key for d in (await record.documents.list(corpus.id, limit=9, key="\U0001f600")).data] == ["\U0001f600"]


async def test_readers_see_a_chunk_from_its_first_to_its_last_revision(record: Neo4jRecord, corpus: Corpus) -> None:
    """Readers do not see slices before their revision is current, and no chunks of an older revision after that."""
    await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
    [chunk] = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
    ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
    triple = ids.triple_id(ada, "met", bob)
    [current] = _run(record, "MATCH (d:Document {corpus_id: $corpus}) RETURN d.current AS n", corpus=corpus.id)
    for first, last, visible in (
        (current["n"], None, True),
        (current["n"], current["n"], True),
        (current["n"] + 1, None, False),
        (current["n"] - 1, current["n"] - 1, False),
    ):
        _run(record, "MATCH (c:Chunk {corpus_id: $corpus}) SET c.first = $first, c.last = $last",
             corpus=corpus.id, first=first, last=last)  # fmt: skip
        assert (chunk.id in await record.contents.get_chunks(corpus.id, [chunk.id])) is visible
        assert (chunk.view_id in await record.contents.get_chunks_by_view(corpus.id, [chunk.view_id])) is visible
        assert bool(await record.contents.get_chunks_of(corpus.id, chunk.document_id)) is visible
        assert bool(await record.contents.get_facts_of(corpus.id, [chunk.id])) is visible
        assert (triple in await record.contents.get_triples(corpus.id, [triple])) is visible
        assert told((await record.graph.graph(corpus.id))[1]).facts == ([(chunk.id, ada, bob)] if visible else [])
        kinds = [row["kind"] for row in await export(record, corpus)]
        assert kinds == (
            ["document", "chunk", "entity", "entity", "mention", "mention", "fact"] if visible else kinds[:1]
        )


async def test_repeated_ids_give_one_row(record: Record, corpus: Corpus) -> None:
    await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
    [chunk] = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
    assert len(await record.contents.get_facts_of(corpus.id, [chunk.id, "f" * 32, chunk.id])) == 1


def _run(record: Neo4jRecord, statement: str, **parameters: Any) -> list[Any]:
    return record.database.write_now(None, lambda tx: tx.rows(statement, **parameters))

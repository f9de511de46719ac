"""Documents with embeddings over HTTP: used as they are, or refused by name."""

import json

import numpy as np

from core.ids import document_id
from core.ports.views import VectorKind
from indexer import ViewRepairer
from tests.integration.api.conftest import Server

AXIS = [0.0] * 63 + [2.0]


async def _stored(server: Server, key: str) -> list[int]:
    """Returns the axes along which the stored vectors of a document lie."""
    corpus = await server.container.record.corpora.get("people")
    page = (await server.client.get(f"/v1/corpora/people/documents/{document_id(key)}/chunks")).json()
    chunks = await server.container.record.contents.get_chunks(corpus.id, [one["id"] for one in page["data"]])
    ids = [chunk.view_id for chunk in sorted(chunks.values(), key=lambda chunk: chunk.position)]
    found = await server.container.vectors.fetch(corpus.id, VectorKind.CHUNK, ids)
    return [int(np.argmax(found[id])) if np.max(found[id]) == 1 else -1 for id in ids]


async def test_numbers_are_used_and_a_repair_reads_them_from_the_originals(server: Server) -> None:
    await server.corpus()
    first = [1.0] + [0.0] * 63
    chunks = [{"text": "Same.", "embedding": AXIS}, {"text": "Same.", "embedding": first}, {"text": "Own."}]
    await server.ingest(
        {"key": "one", "text": " Ada wrote. ", "embedding": AXIS, "embedding_model": "twin"},
        {"key": "three", "chunks": chunks, "embedding_model": "twin"},
    )
    assert await _stored(server, "one") == [63]
    assert await _stored(server, "three") == [63, 0, -1], "the passage without an embedding is embedded here"
    found = await server.client.post("/v1/corpora/people/search", json={"query": "Ada", "searcher": "dense"})
    assert found.status_code == 200
    corpus = await server.container.record.corpora.get("people")
    ids = await server.container.vectors.ids(corpus.id, VectorKind.CHUNK)
    await server.container.vectors.delete(corpus.id, VectorKind.CHUNK, ids)
    await ViewRepairer(corpus, server.container.indexing.for_corpus(corpus)).write_chunks(ids)
    assert await _stored(server, "one") == [63]
    assert await _stored(server, "three") == [63, 0, -1]


async def test_embeddings_that_do_not_fit_are_refused(server: Server) -> None:
    await server.corpus()
    for fields, message in (
        ({"embedding": AXIS, "embedding_model": "other"}, "'other'"),
        ({"embedding": AXIS[1:], "embedding_model": "twin"}, "63 dimensions"),
        ({"embedding": AXIS}, "embedding_model"),
        ({"embedding": [0.0] * 64, "embedding_model": "twin"}, "only zeros"),
        ({"embedding": AXIS, "embedding_model": "twin", "media_type": "text/plain"}, "`embedding` out"),
    ):
        answer = await server.add({"key": "one", "text": "Ada.", **fields})
        assert answer.status_code == 422, fields
        assert message in answer.json()["detail"], answer.text
    assert (await server.client.get("/v1/corpora/people/documents")).json()["data"] == []


async def test_an_upload_of_lines_rejects_those_that_do_not_fit(server: Server) -> None:
    await server.corpus()
    line = {"text": "Ada.", "embedding_model": "twin"}
    lines = [{**line, "id": "good", "embedding": AXIS}, {**line, "id": "bad", "embedding": AXIS[1:]}]
    files = {"file": ("p.jsonl", "\n".join(map(json.dumps, lines)).encode(), "application/x-ndjson")}
    answer = await server.client.post("/v1/corpora/people/documents", files=files)
    assert answer.status_code == 202, answer.text
    assert [one["key"] for one in answer.json()["documents"]] == ["good"]
    assert "63 dimensions" in answer.json()["rejected"][0]["reason"]
    await server.work("people")
    assert await _stored(server, "good") == [63]

"""The pages of lists over HTTP and in Python: corpora, chunks, merges; and what a full queue answers."""

import asyncio
from typing import Any

import pytest

import hopweave
from core.ids import document_id, entity_id
from core.settings import ApiSettings
from hopweave import _steps
from hopweave._operations import ingestion
from tests.integration.api.conftest import MakeServer, Server
from tests.integration.api.test_entities import PLANTS, TOWNS
from tests.integration.api.test_python_api import connected


async def _all(server: Server, path: str, field: str, limit: int) -> list[object]:
    """Returns a field of all entries, read in pages; checks that no page but the last is short."""
    found: list[object] = []
    cursor: str | None = None
    while True:
        given: dict[str, Any] = {"limit": limit} | ({} if cursor is None else {"cursor": cursor})
        answer = await server.client.get(path, params=given)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += [entry[field] for entry in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
        assert len(page["data"]) == limit


async def _check_refusals(server: Server, path: str, foreign: str) -> None:
    tried: tuple[dict[str, Any], ...] = ({"limit": 0}, {"limit": 201}, {"cursor": "a"}, {"cursor": foreign})
    for params in tried:
        answer = await server.client.get(path, params=params)
        assert answer.status_code == 422, params


async def test_corpora_and_chunks_of_a_document_have_pages(server: Server) -> None:
    names = [f"c{number}" for number in range(5)]
    for name in reversed(names):
        await server.corpus(name)
    assert await _all(server, "/v1/corpora", "name", 2) == names
    assert await _all(server, "/v1/corpora", "name", 5) == names
    cursor = (await server.client.get("/v1/corpora", params={"limit": 2})).json()["next_cursor"]
    assert (await server.client.delete("/v1/corpora/c1")).status_code == 202
    rest = await server.client.get("/v1/corpora", params={"cursor": cursor})
    assert [one["name"] for one in rest.json()["data"]] == names[2:], "also if the last entry of the page is deleted"
    jobs = (await server.client.get("/v1/jobs", params={"limit": 1})).json()
    await _check_refusals(server, "/v1/corpora", jobs["next_cursor"] or "e30")
    texts = [f"Passage {number}." for number in range(5)]
    await server.ingest({"key": "five", "chunks": [{"text": text} for text in texts]}, corpus="c0")
    path = f"/v1/corpora/c0/documents/{document_id('five')}/chunks"
    assert await _all(server, path, "text", 2) == texts
    first = (await server.client.get(path, params={"limit": 2})).json()
    await _check_refusals(server, "/v1/corpora", first["next_cursor"])
    await _check_refusals(server, path, "e30")


async def test_merges_have_pages(server: Server) -> None:
    await server.corpus("towns", extractor="given")
    await server.ingest(PLANTS, TOWNS, corpus="towns")
    into = entity_id("ines corvo")
    others = (await server.client.get("/v1/corpora/towns/entities")).json()["data"]
    made: list[str] = []
    for other in [one["entity"]["id"] for one in others if one["entity"]["id"] != into][:5]:
        answer = await server.client.post(f"/v1/corpora/towns/entities/{other}/merge", json={"into": into})
        made.insert(0, answer.json()["id"])
    path = "/v1/corpora/towns/merges"
    assert await _all(server, path, "id", 2) == made
    first = (await server.client.get(path, params={"limit": 2})).json()
    await server.client.post(f"{path}/{first['data'][1]['id']}/undo")
    rest = await server.client.get(path, params={"cursor": first["next_cursor"]})
    assert [one["id"] for one in rest.json()["data"]] == made[2:], "also if the last entry of the page is undone"
    await _check_refusals(server, path, "e30")


async def test_a_corpus_names_the_embedding_model_that_it_expects(server: Server) -> None:
    model = server.container.embedder.model
    made = await server.client.post("/v1/corpora", json={"name": "a", "embedding": model})
    assert (made.status_code, made.json()["embedding"]["model"]) == (201, model)
    other = await server.client.post("/v1/corpora", json={"name": "b", "embedding": "another"})
    assert other.status_code == 409
    assert f"the configured embedding model is {model!r}, not 'another'" in other.json()["detail"]
    assert "name another one with its kind" in other.json()["detail"]
    assert (await server.client.get("/v1/corpora/b")).status_code == 404


async def test_a_full_queue_is_told_with_the_time_to_come_again(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(max_queued=2))
    await server.corpus("people")
    path = "/v1/corpora/people/documents"
    documents = [{"key": key, "text": "A text."} for key in ("a", "b", "c")]
    assert (await server.client.post(path, json={"documents": documents[:1]})).status_code == 202
    assert (await server.client.post(path, json={"documents": documents[1:]})).status_code == 202
    bodies: tuple[dict[str, Any], ...] = (
        {"json": {"documents": documents[:1]}},
        {"files": [("file", ("d.txt", b"A."))]},
    )
    for sent in bodies:
        full = await server.client.post(path, **sent)
        assert (full.status_code, full.headers["Retry-After"]) == (429, "5")
        assert "HOPWEAVE_API__MAX_QUEUED" in full.json()["detail"]
    await server.corpus("others")
    assert (await server.client.post("/v1/corpora/others/documents", json={"documents": documents})).status_code == 202
    estimated = await server.client.post("/v1/corpora/people/estimates", json={"documents": documents})
    assert estimated.status_code == 200, "nothing is queued"


async def test_the_python_client_reads_all_pages(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_steps, "_PAGE", 2)
    async with connected(server) as client:
        for name in "cbaed":
            await client.create_corpus(name)
        assert [corpus.name for corpus in await client.list_corpora()] == list("abcde")
        texts = [f"Passage {number}." for number in range(5)]
        five = hopweave.NewDocument(key="five", chunks=tuple(hopweave.NewChunk(text=text) for text in texts))
        await client.ingest("a", documents=[five], wait=False)
        await server.work("a")
        [document] = await client.list_documents("a")
        assert [chunk.text for chunk in await client.list_chunks("a", document.id)] == texts
        with pytest.raises(hopweave.ConflictError, match="not 'another'"):
            await client.create_corpus("f", embedding="another")


async def test_the_python_client_waits_for_room_in_the_queue(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "_FULL_PAUSES", (0.01,) * 3)
    server = await make_server(ApiSettings(max_queued=1))
    async with connected(server) as client:
        await client.create_corpus("people")
        ada, ben = (hopweave.NewDocument(key=key, text=f"{key} wrote.") for key in ("ada", "ben"))
        await client.ingest("people", documents=[ada], wait=False)
        with pytest.raises(hopweave.QueueFullError, match="MAX_QUEUED"):
            await client.ingest("people", documents=[ben], wait=False)
        monkeypatch.setattr(ingestion, "_FULL_PAUSES", (0.05,) * 600)
        waiting = asyncio.create_task(client.ingest("people", documents=[ben], wait=False))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await server.work("people")
        assert [one.key for one in (await waiting).documents] == ["ben"]


async def test_the_python_client_estimates(people: Server) -> None:
    async with connected(people) as client:
        text = "Ada Lovelace wrote the first program with Charles Babbage."
        known = hopweave.NewDocument(key="ada", title="Ada Lovelace", text=text)
        files = [hopweave.NewFile(name="new.txt", content=b"A new text."), hopweave.NewFile(name="a.png", content=b"?")]
        found = await client.estimate("people", documents=[known, *files])
        assert (found.documents, found.unchanged, found.chunks, found.model) == (2, 1, 1, None)
        assert [one.source for one in found.rejected] == ["a.png"]
        assert len(await client.list_documents("people")) == 3, "nothing is written"


async def test_enabled_with_a_title_makes_one_job(people: Server) -> None:
    [document] = (await people.client.get("/v1/corpora/people/documents", params={"key": "ada"})).json()["data"]
    before = (await people.client.get("/v1/jobs")).json()["data"]
    path = f"/v1/corpora/people/documents/{document['id']}"
    answer = await people.client.patch(path, json={"title": "Ada", "enabled": False})
    assert answer.json()["job"]["counts"] == {"queued": 1}
    assert len((await people.client.get("/v1/jobs")).json()["data"]) == len(before) + 1
    assert (await people.client.get(path)).json()["enabled"] is False, "at once"
    refused = await people.client.patch(path, json={"title": "Again", "enabled": True})
    assert refused.status_code == 409, "it is queued"
    assert (await people.client.get(path)).json()["enabled"] is False, "nothing is changed"
    await people.work("people")
    shown = (await people.client.get(path)).json()
    assert (shown["title"], shown["enabled"]) == ("Ada", False)

"""Corpora over HTTP."""

from indexer import Worker
from tests.integration.api.conftest import ADA, OPTIONS, Server


async def test_create_list_show_rename(server: Server) -> None:
    created = await server.client.post("/v1/corpora", json={"name": "people", "extractor": "pattern+given"})
    assert created.status_code == 201
    assert created.headers["location"] == "/v1/corpora/people"
    assert created.json()["extractor"] == "pattern+given"
    assert created.json()["embedding"] == {"model": "twin", "dimension": 64}
    listed = (await server.client.get("/v1/corpora")).json()
    assert [corpus["name"] for corpus in listed["data"]] == ["people"]
    assert listed["next_cursor"] is None
    await server.ingest(ADA)
    shown = (await server.client.get("/v1/corpora/people")).json()
    assert shown["counts"]["documents"] == shown["counts"]["chunks"] == 1
    renamed = await server.client.patch("/v1/corpora/people", json={"name": "persons"})
    assert renamed.json()["name"] == "persons"
    assert renamed.json()["id"] == shown["id"]
    assert (await server.client.get("/v1/corpora/people")).status_code == 404


async def test_faults(server: Server) -> None:
    await server.corpus()
    taken = await server.client.post("/v1/corpora", json={"name": "people"})
    assert taken.status_code == 409
    for name in ("", "Über", "a/b", "x" * 64, "-a"):
        wrong = await server.client.post("/v1/corpora", json={"name": name})
        assert wrong.status_code == 422, name
    unknown = await server.client.post("/v1/corpora", json={"name": "b", "chunker": "no-such"})
    assert unknown.status_code == 422
    assert "no-such" in unknown.json()["detail"]
    missing = await server.client.get("/v1/corpora/nothing")
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"
    assert "people" in missing.json()["detail"], "the message names the corpora that there are"
    assert missing.json()["instance"] == "/v1/corpora/nothing"


async def test_drop_is_invisible_at_once_and_then_gone(people: Server) -> None:
    corpus = await people.container.record.corpora.get("people")
    dropped = await people.client.delete("/v1/corpora/people")
    assert dropped.status_code == 202
    job = dropped.json()["job"]
    assert dropped.headers["location"] == f"/v1/jobs/{job['id']}"
    assert (await people.client.get("/v1/corpora/people")).status_code == 404
    assert (await people.client.post("/v1/corpora/people/search", json={"query": "Ada"})).status_code == 404
    await people.corpus()  # the name is free at once
    await people.work("people")  # whoever works forgets what was dropped
    assert (await people.client.get(f"/v1/jobs/{job['id']}")).json()["state"] == "done"
    assert await people.container.text.count(corpus.id) == 0


async def test_a_corpus_is_built_anew_beside_itself_and_swapped(people: Server) -> None:
    before = (await people.client.get("/v1/corpora/people")).json()
    started = await people.client.post("/v1/corpora/people/reindex", json={"chunker": "passage", "fine": "on"})
    assert started.status_code == 202
    job = started.json()["job"]
    assert (job["kind"], job["corpus"]) == ("reindex", "people")
    assert started.headers["location"] == f"/v1/jobs/{job['id']}"
    twice = await people.client.post("/v1/corpora/people/reindex", json={})
    assert twice.status_code == 409
    assert "reindexed already" in twice.json()["detail"]
    listed = (await people.client.get("/v1/corpora")).json()["data"]
    assert [corpus["id"] for corpus in listed] == [before["id"]]
    worker = Worker("test", people.container.indexing, OPTIONS)
    while not (await people.client.get(f"/v1/jobs/{job['id']}")).json()["finished_at"]:
        for corpus_id in await people.container.record.maintenance.list_corpora_with_work():
            await worker.work(corpus_id)
    after = (await people.client.get("/v1/corpora/people")).json()
    assert after["id"] != before["id"]
    assert (after["chunker"], after["extractor"], after["fine"]) == ("passage", before["extractor"], "on")
    assert after["counts"] == before["counts"]
    found = await people.client.post("/v1/corpora/people/search", json={"query": "Who designed the engine?"})
    assert found.json()["hits"][0]["document"]["key"] == "notes/babbage"


async def test_what_cannot_be_built_is_refused_before_anything_is_made(people: Server) -> None:
    unknown = await people.client.post("/v1/corpora/people/reindex", json={"extractor": "no-such"})
    assert unknown.status_code == 422
    assert "no-such" in unknown.json()["detail"]
    assert await people.container.record.reindexing.list() == []
    assert (await people.client.post("/v1/corpora/nothing/reindex", json={})).status_code == 404


async def test_a_corpus_without_vectors_and_graph(server: Server) -> None:
    body = {"name": "people", "embedding": "none", "extractor": "none"}
    created = await server.client.post("/v1/corpora", json=body)
    assert created.status_code == 201
    assert created.json()["embedding"] == {"model": "none", "dimension": 0}
    assert created.json()["extractor"] == "none"
    await server.ingest(ADA)
    found = await server.client.post("/v1/corpora/people/search", json={"query": "first program"})
    assert found.status_code == 200
    assert found.json()["hits"]
    dense = {"query": "first program", "searcher": "dense"}
    refused = await server.client.post("/v1/corpora/people/search", json=dense)
    assert refused.status_code == 422
    assert "corpus 'people' has none" in refused.json()["detail"]

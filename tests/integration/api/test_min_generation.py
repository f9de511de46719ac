"""`min_generation`: a search sees what a job has changed, or says why it cannot."""

import asyncio

import pytest

import app.services.asked_corpora
from tests.integration.api.conftest import ADA, BABBAGE, Server

SEARCH = "/v1/corpora/people/search"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.services.asked_corpora, "_WAIT_SECONDS", 0.3)


async def test_a_job_that_is_over_names_a_generation(server: Server) -> None:
    await server.corpus()
    started = (await server.add(ADA)).json()["job"]
    assert started["generation"] is None
    await server.work("people")
    job = (await server.client.get(f"/v1/jobs/{started['id']}")).json()
    assert job["generation"] == (await server.client.get("/v1/corpora/people")).json()["generation"] > 0
    listed = (await server.client.get("/v1/jobs")).json()["data"]
    assert listed[0]["generation"] == job["generation"]


async def test_a_search_waits_for_it(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.services.asked_corpora, "_WAIT_SECONDS", 300.0)
    generation = (await people.client.get("/v1/corpora/people")).json()["generation"]
    await people.add({"key": "new", "title": "Grace Hopper", "text": "Grace Hopper wrote a compiler."})
    body = {"query": "Who wrote a compiler?", "searcher": "dense", "min_generation": generation + 1}
    searching = asyncio.create_task(people.client.post(SEARCH, json=body))
    await asyncio.sleep(0.2)
    assert not searching.done()
    await people.work("people")
    found = (await searching).json()
    assert found["hits"][0]["document"]["key"] == "new"
    assert found["generation"] == found["generations"]["people"] > generation


@pytest.mark.usefixtures("impatient")
async def test_a_generation_that_does_not_come_is_a_conflict(people: Server) -> None:
    for action, word in (("search", "query"), ("ask", "question")):
        answer = await people.client.post(f"/v1/corpora/people/{action}", json={word: "Who?", "min_generation": 999})
        assert answer.status_code == 409
        assert "999 was asked for" in answer.json()["detail"]
        assert "leave `min_generation` out" in answer.json()["detail"]


@pytest.mark.usefixtures("impatient")
async def test_a_snapshot_that_is_late_is_a_504(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    await people.client.post(SEARCH, json={"query": "Who?"})
    cache = people.container.snapshots
    monkeypatch.setattr(cache, "_wait_seconds", 0.01)
    begun = asyncio.Event()

    async def read_slowly(_corpus_id: str, _entry: object, old: object) -> object:
        begun.set()
        await asyncio.sleep(5)
        return old

    monkeypatch.setattr(cache, "_read_snapshot", read_slowly)
    await people.ingest({"key": "new", "text": "Grace Hopper wrote a compiler."})
    generation = (await people.client.get("/v1/corpora/people")).json()["generation"]
    answer = await people.client.post(SEARCH, json={"query": "Who?", "min_generation": generation})
    await asyncio.wait_for(begun.wait(), 60)
    assert (answer.status_code, "try again" in answer.json()["detail"]) == (504, True)


async def test_several_corpora_have_one_each(server: Server) -> None:
    for name, document in (("one", ADA), ("two", BABBAGE)):
        await server.corpus(name)
        await server.ingest(document, corpus=name)
    body = {"query": "Who?", "corpora": ["one", "two"]}
    answer = await server.client.post("/v1/search", json={**body, "min_generation": {"one": 1, "two": 1}})
    assert answer.status_code == 200
    for wrong, said in ((1, "give each corpus its own"), ({"three": 1}, "'three'")):
        answer = await server.client.post("/v1/search", json={**body, "min_generation": wrong})
        assert (answer.status_code, said in answer.json()["detail"]) == (422, True)

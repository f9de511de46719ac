"""The server itself: health, the catalogue, its description, and what it does in the background."""

import asyncio
from pathlib import Path

import httpx
import pytest

from api.main import create_app
from app.access.container import RestrictedContainer
from app.container import Container
from core.settings import Settings, WorkerSettings
from indexer import known_suffixes
from tests.integration.api.conftest import ADA, BASE, MakeServer, Server
from tests.twins.embedder import TwinEmbedder


async def test_health(server: Server) -> None:
    assert (await server.client.get("/healthz")).json() == {"status": "ok"}
    parts = dict.fromkeys(("record", "vectors", "text", "files"), "ok")
    assert (await server.client.get("/readyz")).json() == {"status": "ok", "parts": parts}


async def test_readiness_names_the_store_that_is_down(server: Server, tmp_path: Path) -> None:
    (tmp_path / "vectors.db").mkdir()
    answer = await server.client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("vectors is down: ")
    assert "retry-after" in answer.headers
    assert (await server.client.get("/healthz")).status_code == 200


async def test_strategies(server: Server) -> None:
    listed = (await server.client.get("/v1/strategies")).json()["data"]
    named = {(one["kind"], one["name"]) for one in listed}
    some = {("searcher", "fused"), ("reasoner", "extractive"), ("chunker", "sentences"), ("extractor", "given")}
    assert some <= named
    fused = next(one for one in listed if one["name"] == "fused")
    assert "damping" in fused["options"]["properties"]
    assert all(one["description"] for one in listed)
    suffixes = {suffix for one in listed if one["kind"] == "loader" for suffix in one["suffixes"]}
    assert suffixes == set(known_suffixes()), "clients send files with these"
    assert not any(one["suffixes"] for one in listed if one["kind"] != "loader")


async def test_jobs_newest_first(people: Server) -> None:
    second = (await people.ingest({**ADA, "text": "Changed."}))["job"]["id"]
    listed = (await people.client.get("/v1/jobs", params={"limit": 1})).json()["data"]
    assert [job["id"] for job in listed] == [second]
    assert listed[0]["corpus"] == "people"


async def test_the_description_is_complete(server: Server) -> None:
    page = await server.client.get("/docs")
    assert page.status_code == 200
    assert "//" not in page.text.partition("<h1>")[0], "nothing is loaded from elsewhere"
    description = (await server.client.get("/openapi.json")).json()
    for path, operations in description["paths"].items():
        assert path in page.text
        assert all(operation["summary"] for operation in operations.values()), path
        assert all("4XX" in operation["responses"] for operation in operations.values()), path


async def test_a_bug_is_a_problem_that_tells_nothing(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a secret of the inside")

    monkeypatch.setattr(RestrictedContainer, "check_embedding", broken)
    answer = await people.client.post("/v1/corpora/people/search", json={"query": "Ada"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text


async def test_background_rings_for_waiting_work_and_ends(make_server: MakeServer, tmp_path: Path) -> None:
    """A message that was lost is sent again, to the broker's folder."""
    server = await make_server()
    await server.corpus()
    await server.add(ADA)
    queue = tmp_path / "broker" / "queue"
    for message in queue.iterdir():
        message.unlink()
    container = Container(Settings(data_dir=tmp_path, worker=WorkerSettings(sweep_seconds=0.01)))
    container.embedder = TwinEmbedder()
    app = create_app(container=container)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            assert (await client.get("/v1/corpora/people")).status_code == 200
        while not list(queue.iterdir()):  # noqa: ASYNC110 - another process' folder rings no event
            await asyncio.sleep(0.01)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "notifying"]
    await container.close()

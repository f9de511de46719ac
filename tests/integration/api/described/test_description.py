"""`/openapi.json`: built once, when the server starts, and true for a server with keys and for one without."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.main import create_app
from app.container import Container
from core.settings import ApiSettings, Settings
from tests.integration.api.conftest import BASE, MakeServer, Server
from tests.twins.embedder import TwinEmbedder


def _needed(description: dict[str, Any]) -> list[Any]:
    """The keys that operations need."""
    paths = description["paths"].values()
    return [operation["security"] for path in paths for operation in path.values() if "security" in operation]


async def test_without_keys_it_declares_none(server: Server) -> None:
    described = (await server.client.get("/openapi.json")).json()
    assert _needed(described) == []
    assert "securitySchemes" not in described["components"]
    assert described["paths"].keys() == server.app.openapi()["paths"].keys()


async def test_with_a_key_it_is_that_of_the_documentation(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["a key"]}))
    described = (await server.client.get("/openapi.json")).json()
    assert described == server.app.openapi()
    assert len(_needed(described)) > 50


async def test_it_is_built_at_the_start_and_by_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container = Container(Settings(data_dir=tmp_path))
    container.embedder = TwinEmbedder()
    app = create_app(container=container)

    def build_again() -> dict[str, Any]:
        raise AssertionError("a request builds the description")

    async with app.router.lifespan_context(app):
        (task,) = [task for task in asyncio.all_tasks() if task.get_name() == "describing the API"]
        await task
        monkeypatch.setattr(app, "openapi", build_again)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=BASE) as client:
            first, second = [await client.get("/openapi.json") for _ in range(2)]
            refused = await client.put("/v1/corpora")
    await container.close()
    assert first.content == second.content
    assert first.headers["content-type"] == "application/json"
    assert refused.headers["allow"] == "GET, POST"


async def test_requests_at_the_same_time_build_it_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    build, built = server.app.openapi, 0

    def count() -> dict[str, Any]:
        nonlocal built
        built += 1
        return build()

    monkeypatch.setattr(server.app, "openapi", count)
    answers = await asyncio.gather(*(server.client.get("/openapi.json") for _ in range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert built == 1

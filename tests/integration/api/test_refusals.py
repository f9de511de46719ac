"""Servers that refuse what is set here, met by a request: a 503 names server and setting, and readiness says the same.

It is of no use to try again, and no secret is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from core.settings import Settings
from stores.neo4j.driver.schema import SCHEMA_VERSION
from tests.integration.api.conftest import Server
from tests.integration.stores.neo4j_databases import driver_of
from tests.servers.addresses import Neo4jAddress
from tests.servers.fixtures import RunOwn
from tests.servers.milvus_server import MilvusServer
from tests.twins.embedder import TwinEmbedder

MakeSet = Callable[[Mapping[str, Any]], Awaitable[Server]]

_TRIES = 30
_WRONG = "not-the-password"
_SERVERS = {"record": "neo4j", "vectors": "milvus", "text": "neo4j"}
_FOREIGN = "CREATE (:Person {name: 'Ada'})"
_NEWER = f"CREATE (:HopweaveSchema {{id: 'record', version: {SCHEMA_VERSION + 1}, jobs: 0}})"


@pytest.fixture
async def serve_with(tmp_path: Path) -> AsyncIterator[MakeSet]:
    """A server with these settings, as if what they name had not been looked at when it started."""
    made: list[Server] = []

    async def make(settings: Mapping[str, Any]) -> Server:
        folders = {"data_dir": tmp_path / "data", "files": {"url": str(tmp_path / "originals")}}
        container = Container(Settings.model_validate({**folders, **settings}))
        container.embedder = TwinEmbedder()
        made.append(Server(container))
        return made[-1]

    yield make
    for server in made:
        await server.close()


async def refused(server: Server, part: str, path: str, body: Mapping[str, Any]) -> str:
    """What a request is told, once all is checked that is true of each such refusal."""
    answer = await server.client.post(path, json=body)
    for _ in range(_TRIES):  # a server that has just started may be too slow for the first request
        if "retry-after" not in answer.headers:
            break
        await asyncio.sleep(1)
        answer = await server.client.post(path, json=body)
    assert answer.status_code == 503, answer.text
    problem = answer.json()
    assert "code" in problem, answer.text
    assert problem["code"] == "wrong_settings"
    assert answer.headers["content-type"] == "application/problem+json"
    assert "retry-after" not in answer.headers, "it does not pass by itself"
    assert _WRONG not in answer.text
    red = await server.client.get("/readyz")
    assert red.status_code == 503
    assert red.json()["code"] == "wrong_settings"
    assert "retry-after" not in red.headers
    assert f"{part} is down: {problem['detail']}" in red.json()["detail"], "readiness has the same words"
    return str(problem["detail"])


async def test_what_is_no_address_of_milvus(serve_with: MakeSet) -> None:
    """Without a server: the record is in the folder."""
    uri = f"ftp://root:{_WRONG}@127.0.0.1:1"
    server = await serve_with({"store": {"vectors": "milvus"}, "milvus": {"uri": uri}})
    await server.corpus()
    said = await refused(server, "vectors", "/v1/corpora/people/search", {"query": "Who?", "searcher": "dense"})
    assert "HOPWEAVE_MILVUS__URI" in said
    described = (await server.client.get("/openapi.json")).json()
    problem = described["paths"]["/v1/corpora"]["get"]["responses"]["5XX"]["content"]["application/problem+json"]
    assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
    codes = described["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert codes == ["wrong_settings", "starting"]


async def test_a_password_in_the_address_of_neo4j(serve_with: MakeSet) -> None:
    server = await serve_with(on_servers(Neo4jAddress(uri=f"bolt://neo4j:{_WRONG}@127.0.0.1:1"), "any"))
    said = await refused(server, "record", "/v1/corpora", {"name": "people"})
    assert "HOPWEAVE_NEO4J__URI" in said
    assert "bolt://127.0.0.1:1" in said


@pytest.mark.servers
async def test_a_wrong_password_of_neo4j(serve_with: MakeSet, clean_neo4j: Neo4jAddress) -> None:
    server = await serve_with(on_servers(clean_neo4j, _WRONG))
    said = await refused(server, "record", "/v1/corpora", {"name": "people"})
    assert clean_neo4j.uri in said
    assert "HOPWEAVE_NEO4J__PASSWORD" in said


@pytest.mark.servers
@pytest.mark.parametrize(("made", "why"), [(_FOREIGN, "another application's data (Person)"), (_NEWER, "has schema")])
async def test_a_database_that_cannot_be_ours(
    serve_with: MakeSet, clean_neo4j: Neo4jAddress, made: str, why: str
) -> None:
    with driver_of(clean_neo4j) as driver:
        driver.execute_query(made)
    server = await serve_with(on_servers(clean_neo4j, clean_neo4j.password))
    said = await refused(server, "record", "/v1/corpora", {"name": "people"})
    assert clean_neo4j.uri in said
    assert why in said
    assert "HOPWEAVE_NEO4J__DATABASE" in said


@pytest.mark.servers
@pytest.mark.slow
async def test_a_wrong_password_of_milvus(serve_with: MakeSet, run_own: RunOwn) -> None:
    milvus = run_own(lambda home, ports: MilvusServer(home, port=ports[0], authorization=True))
    server = await serve_with(
        {"store": {"vectors": "milvus"}, "milvus": {"uri": milvus.uri, "token": f"root:{_WRONG}"}}
    )
    await server.corpus()
    said = await refused(server, "vectors", "/v1/corpora/people/search", {"query": "Who?", "searcher": "dense"})
    assert milvus.uri.partition("//")[2] in said
    assert "HOPWEAVE_MILVUS__TOKEN" in said


def on_servers(neo4j: Neo4jAddress, password: str) -> dict[str, Any]:
    """Nothing but Neo4j is asked by what these tests ask."""
    return {
        "store": _SERVERS,
        "neo4j": {"uri": neo4j.uri, "password": password},
        "broker": {"url": "redis://127.0.0.1:1/0"},
        "milvus": {"uri": "http://127.0.0.1:1"},
    }

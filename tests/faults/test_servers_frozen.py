"""A server freezes in the middle of a question: 503 names it, soon; all is well when it goes on, without a restart.

It is not down: the kernel still takes connections and data for it, and nothing ever comes back.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from stores.neo4j import Connection
from stores.neo4j.driver.watchdog import Watchdog
from tests.faults.serving import serving
from tests.integration.api.conftest import ADA, BABBAGE, Server
from tests.servers.milvus_server import MilvusServer
from tests.servers.neo4j_server import PASSWORD, Neo4jServer
from tests.servers.redis_server import RedisServer
from tests.servers.server import Server as RealServer

pytestmark = [pytest.mark.servers, pytest.mark.slow]

_SOON = 5 * 4  # the limit is some five seconds; machines that run tests may be busy with others
_BACK_SECONDS = 60
_AT_ONCE = 12  # more than there are threads to wait in


@pytest.fixture
async def server(
    own_neo4j: Neo4jServer, own_milvus: MilvusServer, own_redis: RedisServer, tmp_path: Path
) -> AsyncIterator[Server]:
    async with serving(own_neo4j, own_milvus.uri, own_redis, tmp_path) as made:
        yield made


async def test_a_frozen_server_is_named_and_found_again(
    server: Server, own_neo4j: Neo4jServer, own_milvus: MilvusServer
) -> None:
    """One test, since starting the servers is what takes the time."""
    await server.corpus()
    await server.ingest(ADA, BABBAGE)
    await _through_frost(server, own_milvus, "Milvus", own_milvus.uri)
    await _through_frost(server, own_neo4j, "Neo4j", own_neo4j.uri)


async def test_what_lasts_is_not_cut_off(own_neo4j: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that keeps the server busy is asked after again and again, and ends in its own time."""
    monkeypatch.setattr("stores.neo4j.driver.watchdog._QUIET_SECONDS", 0.0)
    connection = Connection(own_neo4j.uri, own_neo4j.user, PASSWORD, "neo4j")
    asked = []
    server = connection.server

    def counting() -> str:
        asked.append(time.monotonic())
        return server()

    monkeypatch.setattr(connection, "_watchdog", Watchdog(counting))
    try:
        with connection.session(patience=0.0) as session:
            rows = session.run("UNWIND range(1, 30000000) AS i RETURN sum(i % 7) AS total").data()
    finally:
        connection.close()
    assert rows == [{"total": 89999997}]
    assert len(asked) > 1, "or this shows nothing"


async def _through_frost(server: Server, real: RealServer, name: str, address: str) -> None:
    """The connections that were used a moment ago are used again, and hold what is asked now."""
    before = await asyncio.gather(*(_search(server) for _ in range(_AT_ONCE)))
    assert {answer.status_code for answer in before} == {200}, before[0].text
    with _frozen(real):
        for at_once in (_AT_ONCE, 1):
            began = time.monotonic()
            for answer in await asyncio.gather(*(_search(server) for _ in range(at_once))):
                assert (answer.status_code, answer.headers.get("retry-after")) == (503, "5"), answer.text
                assert name in answer.json()["detail"]
                assert address.partition("//")[2] in answer.json()["detail"]
            assert time.monotonic() - began < _SOON
        red = await server.client.get("/readyz")
        assert red.status_code == 503
        assert name in red.json()["detail"]
    deadline = time.monotonic() + _BACK_SECONDS
    while (answer := await _search(server)).status_code == 503:
        assert time.monotonic() < deadline, answer.text
        await asyncio.sleep(0.2)
    assert [hit["document"]["key"] for hit in answer.json()["hits"]][:1] == ["ada"]


@contextmanager
def _frozen(server: RealServer) -> Iterator[None]:
    """The whole of it stands still, as for one that is suspended or swapped out."""
    assert server.pid is not None
    os.killpg(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(server.pid, signal.SIGCONT)


async def _search(server: Server) -> httpx.Response:
    async with asyncio.timeout(_SOON):
        return await server.client.post("/v1/corpora/people/search", json={"query": "Who wrote the first program?"})

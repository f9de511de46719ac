"""Sessions on several hosts: each has a data folder of its own, and all have the same secret, or none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.container import Container
from core.keys import Scope, make_key
from core.settings import Settings
from tests.integration.api.access.browsing import OWN, PATH
from tests.integration.api.conftest import BASE, Server
from tests.servers.addresses import Neo4jAddress
from tests.twins.embedder import TwinEmbedder

MakeHosts = Callable[..., Awaitable[list[Server]]]
_API = {"keys": ["sekret"]}
_SHARED = {**_API, "session_secret": "0123456789abcdef" * 2}


@pytest.fixture
async def make_hosts(tmp_path: Path) -> AsyncIterator[MakeHosts]:
    made: list[Server] = []

    async def make(**settings: Any) -> list[Server]:
        for name in ("first", "second"):
            container = Container(Settings.model_validate({"data_dir": tmp_path / name, **settings}))
            container.embedder = TwinEmbedder()
            made.append(Server(container))
        return made

    yield make
    for server in made:
        await server.close()


async def _sign_in(server: Server, key: str) -> dict[str, str]:
    """Returns the headers of the requests of a page that has signed in."""
    answer = await server.client.post(PATH, json={"key": key}, headers={**OWN, "origin": BASE})
    assert answer.status_code == 200, answer.text
    cookie = answer.headers["set-cookie"].partition(";")[0]
    server.client.cookies.clear()
    return {**OWN, "cookie": cookie}


async def _ask(server: Server, headers: dict[str, str]) -> httpx.Response:
    return await server.client.get(PATH, headers=headers)


async def test_hosts_with_the_same_secret_accept_each_others_sessions(make_hosts: MakeHosts) -> None:
    first, second = await make_hosts(api=_SHARED)
    headers = await _sign_in(first, "sekret")
    assert (await _ask(second, headers)).status_code == 200


async def test_hosts_with_secrets_of_their_own_do_not(make_hosts: MakeHosts) -> None:
    first, second = await make_hosts(api=_API)
    headers = await _sign_in(first, "sekret")
    await _sign_in(second, "sekret")
    assert (await _ask(first, headers)).status_code == 200
    refused = await _ask(second, headers)
    assert refused.status_code == 401
    assert "the session is none of this server's" in refused.json()["detail"]


@pytest.mark.servers
async def test_a_key_of_the_record_in_neo4j_ends_its_sessions_on_all_hosts(
    make_hosts: MakeHosts, clean_neo4j: Neo4jAddress, tmp_path: Path
) -> None:
    neo4j = {"uri": clean_neo4j.uri, "user": clean_neo4j.user, "password": clean_neo4j.password}
    hosts = await make_hosts(
        api={"session_secret": _SHARED["session_secret"]},
        store={"record": "neo4j", "vectors": "milvus", "text": "neo4j"},
        neo4j=neo4j,
        broker={"url": "redis://127.0.0.1:1/0"},
        files={"url": str(tmp_path / "originals")},
    )
    first, second = hosts
    key, text = make_key("page", [Scope.READ], corpora=["people"])
    await first.container.record.keys.create(key)
    headers = await _sign_in(first, text)
    for host in hosts:
        told = (await _ask(host, headers)).json()
        assert (told["id"], told["scopes"], told["corpora"]) == (key.id, ["read"], ["people"])
    await second.container.record.keys.revoke(key.id)
    for host in hosts:
        host.app.state.keyring._read_at = None  # seconds pass
        assert (await _ask(host, headers)).status_code == 401

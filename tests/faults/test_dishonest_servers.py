"""A store's answers are cut short, garbled, in drips, or never come: each request is told so, and nothing is lost.

Each store is behind a proxy that does so to it. Other tests kill a store (`test_servers_down`) or freeze it
(`test_servers_frozen`); here connections live, and what comes over them is no answer.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import httpx
import pytest
from neo4j import Session

from app.container import Container
from core.errors import HopweaveError, Unavailable
from core.settings import Settings
from indexer import Worker
from stores.neo4j import Connection
from tests.faults.serving import make_served
from tests.integration.api.conftest import ADA, BABBAGE, OPTIONS, Server
from tests.servers.milvus_lite_server import MilvusLiteServer
from tests.servers.neo4j_server import PASSWORD, Neo4jServer
from tests.servers.proxy import Manner, Proxy
from tests.servers.redis_server import RedisServer
from tests.servers.s3_server import SECRET_KEY, S3Server, environment_of_clients

pytestmark = [pytest.mark.servers, pytest.mark.slow]

_SOON = 60  # the limit is five seconds, several in a row; machines that run tests may be busy with others
_BACK_SECONDS = 90
_PRIVATE = (PASSWORD, SECRET_KEY)
_LONG = "Mary Shelley wrote of a monster." + " " * 200_000  # larger than what a proxy passes on at once
_OPTIONS = replace(OPTIONS, lease_seconds=6, renew_seconds=1.5)  # of a claim that could not be given back
_DISHONEST = [manner for manner in Manner if manner is not Manner.HONEST]


@dataclass(frozen=True, kw_only=True)
class Store:
    """What is behind a proxy: the setting that a message must name, and the requests that need it."""

    setting: str
    requests: tuple[str, ...]


_STORES = {
    "neo4j": Store(setting="HOPWEAVE_NEO4J__URI", requests=("search", "list", "add", "content")),
    "milvus": Store(setting="HOPWEAVE_MILVUS__URI", requests=("search",)),
    "s3": Store(setting="AWS_ENDPOINT_URL", requests=("add", "content")),
    "redis": Store(setting="HOPWEAVE_BROKER__URL", requests=()),
}

Proxies = Mapping[str, Proxy]


@pytest.fixture(scope="module")
def proxies(
    own_neo4j: Neo4jServer, own_milvus_lite: MilvusLiteServer, own_redis: RedisServer, own_s3: S3Server
) -> Iterator[Proxies]:
    servers = {"neo4j": own_neo4j, "milvus": own_milvus_lite, "redis": own_redis, "s3": own_s3}
    with ExitStack() as stack:
        yield {name: stack.enter_context(Proxy(server.ports[0])) for name, server in servers.items()}


@pytest.fixture
async def server(proxies: Proxies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    s3 = environment_of_clients(f"http://127.0.0.1:{proxies['s3'].port}", "hopweave", SECRET_KEY, S3Server.region)
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    settings = Settings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "store": {"record": "neo4j", "vectors": "milvus", "text": "neo4j"},
            "neo4j": {"uri": f"bolt://127.0.0.1:{proxies['neo4j'].port}", "password": PASSWORD},
            "milvus": {"uri": f"http://127.0.0.1:{proxies['milvus'].port}"},
            "broker": {"url": f"redis://127.0.0.1:{proxies['redis'].port}/0"},
            "files": {"url": f"s3://{S3Server.bucket}/{tmp_path.name}"},
        }
    )
    async with make_served(settings) as made:
        yield made
        for proxy in proxies.values():  # before the container closes its connections
            proxy.manner = Manner.HONEST
            proxy.hang_up()


@pytest.mark.parametrize("manner", _DISHONEST)
@pytest.mark.parametrize("store", _STORES)
async def test_it_is_told_and_nothing_is_lost(
    server: Server, proxies: Proxies, caplog: pytest.LogCaptureFixture, store: str, manner: Manner
) -> None:
    corpus = f"{store}-{manner}"
    await server.corpus(corpus)
    await server.ingest({**ADA, "text": ADA["text"] + " " * 200_000}, BABBAGE, corpus=corpus)
    queued = await server.add({"key": "mary", "text": _LONG}, corpus=corpus)
    [ada, *_] = (await server.client.get(f"/v1/corpora/{corpus}/documents")).json()["data"]
    found = await server.container.record.corpora.get(corpus)
    assert (await _search(server, corpus)).status_code == 200

    proxies[store].manner = manner
    async with _always_healthy(server):
        answers = await _ask_everything(server, corpus, ada["id"])
        ready = await _in_time(server.client.get("/readyz"))
        await _try_to_work(
            server.container, found.id, 6 if manner in (Manner.CUT, Manner.GARBAGE) and store != "neo4j" else 1
        )
    for request in _STORES[store].requests:
        answer = answers.pop(request)
        assert answer.status_code == 503, f"{request}: {answer.text}"
        assert _STORES[store].setting in answer.json()["detail"], request
    assert [name for name, answer in answers.items() if answer.status_code >= 400] == []
    assert _STORES[store].setting in ready.text
    assert ready.status_code == (200 if store == "redis" else 503)

    proxies[store].manner = Manner.HONEST
    await _back(server, corpus)
    job = await _indexed(server, found.id, queued.headers["location"])
    assert (job["state"], job["counts"], job["failures"]) == ("done", {"indexed": 1}, [])
    content = await server.client.get(f"/v1/corpora/{corpus}/documents/{ada['id']}/content")
    assert content.status_code == 200, content.text
    said = caplog.text + ready.text + "".join(answer.text for answer in answers.values())
    assert [secret for secret in _PRIVATE if secret in said] == []


async def _ask_everything(server: Server, corpus: str, document: str) -> dict[str, httpx.Response]:
    """Everything at once, as from several clients; and then again, when the outage is known."""
    answers: dict[str, httpx.Response] = {}
    for turn in ("late", "later"):
        asked = {
            "search": _search(server, corpus),
            "list": server.client.get("/v1/corpora"),
            "add": server.add({"key": turn, "text": f"Ada Lovelace is {turn} in {corpus}."}, corpus=corpus),
            "content": server.client.get(f"/v1/corpora/{corpus}/documents/{document}/content"),
        }
        found = await asyncio.gather(*(_in_time(one) for one in asked.values()))
        answers |= dict(zip(asked, found, strict=True))
    return answers


@asynccontextmanager
async def _always_healthy(server: Server) -> AsyncIterator[None]:
    """`/healthz` is answered all the time, while other requests wait."""

    async def watch() -> None:
        while True:
            assert (await _in_time(server.client.get("/healthz"))).status_code == 200
            await asyncio.sleep(0.05)

    watching = asyncio.create_task(watch())
    yield
    assert not watching.done(), watching.exception()
    watching.cancel()


async def _try_to_work(container: Container, corpus_id: str, times: int) -> None:
    """Six times are enough that documents fail if these count as attempts, which only a record that works can count."""
    for _ in range(times):
        try:
            async with asyncio.timeout(_BACK_SECONDS):
                await Worker("test", container.indexing, _OPTIONS).work(corpus_id)
        except HopweaveError:
            continue  # a worker process logs it, and looks for work again


async def _back(server: Server, corpus: str) -> None:
    deadline = time.monotonic() + _BACK_SECONDS
    while (answer := await _search(server, corpus)).status_code != 200:
        assert time.monotonic() < deadline, answer.text
        await asyncio.sleep(0.2)
    assert [hit["document"]["key"] for hit in answer.json()["hits"]][:1] == ["ada"]


async def _indexed(server: Server, corpus_id: str, location: str) -> dict[str, object]:
    """A claim that could not be given back is free when its lease ends."""
    deadline = time.monotonic() + _BACK_SECONDS
    while True:
        await Worker("test", server.container.indexing, _OPTIONS).work(corpus_id)
        job: dict[str, object] = (await server.client.get(location)).json()
        if job["state"] in ("done", "failed"):
            return job
        assert time.monotonic() < deadline, job
        await asyncio.sleep(0.5)


async def _search(server: Server, corpus: str) -> httpx.Response:
    return await _in_time(
        server.client.post(f"/v1/corpora/{corpus}/search", json={"query": "Who wrote the first program?"})
    )


async def _in_time(asking: Awaitable[httpx.Response]) -> httpx.Response:
    async with asyncio.timeout(_SOON):
        return await asking


_NO_STRUCTURE = b"\x00\x01\x4a\x00\x00"


@pytest.mark.parametrize("gathering", [0, 0.2], ids=["answers apart", "answers gathered"])
@pytest.mark.parametrize(
    "frame",
    [_NO_STRUCTURE, b"\x00\x04\xb1\x70\x81\xff\x00\x00", b"\x00\x03\xb1\x70\x05\x00\x00"],
    ids=["no structure", "no UTF-8", "no map"],
)
async def test_a_frame_of_bolt_that_cannot_be_decoded_is_an_outage(
    proxies: Proxies, frame: bytes, gathering: float
) -> None:
    """The driver's decoder raises errors of any kind, which ended the watchdog, too: then calls waited for ever.

    If two answers come as one piece, one frame takes the place of both. To close its session, the driver waits for the
    second answer, which was not watched: two minutes.
    """
    proxy = proxies["neo4j"]
    connection = Connection(f"bolt://127.0.0.1:{proxy.port}", "neo4j", PASSWORD, "neo4j")
    ask = partial(_run, connection)
    try:
        assert await asyncio.to_thread(ask) == [{"one": 1}]
        proxy.garbage, proxy.manner, proxy.gathering = frame, Manner.GARBAGE, gathering
        with pytest.raises(Unavailable, match="HOPWEAVE_NEO4J__URI"):
            await asyncio.wait_for(asyncio.to_thread(ask), _SOON)
        proxy.manner, proxy.gathering = Manner.HONEST, 0
        proxy.hang_up()
        assert await asyncio.to_thread(ask) == [{"one": 1}]
    finally:
        proxy.manner, proxy.gathering = Manner.HONEST, 0
        connection.close()


def _run(connection: Connection) -> list[dict[str, object]]:
    with connection.session() as session:
        return session.run("RETURN 1 AS one").data()


async def test_a_session_that_cannot_be_closed_is_ended(proxies: Proxies) -> None:
    """The driver left it open, with its connection."""
    proxy = proxies["neo4j"]
    connection = Connection(f"bolt://127.0.0.1:{proxy.port}", "neo4j", PASSWORD, "neo4j")
    sessions: list[Session] = []

    def begin_and_close() -> None:
        with connection.session() as session:
            sessions.append(session)
            session.begin_transaction().run("RETURN 1").consume()
            proxy.garbage, proxy.manner = _NO_STRUCTURE, Manner.GARBAGE

    try:
        with pytest.raises(Unavailable, match="HOPWEAVE_NEO4J__URI"):
            await asyncio.wait_for(asyncio.to_thread(begin_and_close), _SOON)
        assert sessions[0].closed()
    finally:
        proxy.manner = Manner.HONEST
        connection.close()

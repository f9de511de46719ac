import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from core.errors import InvalidSettings, Unavailable
from core.ids import new_id
from core.ports.views import VectorKind
from stores.milvus import MilvusVectorStore
from testing.contracts.vector_store import batch, names, unit_vectors
from tests.servers.fixtures import RunOwn
from tests.servers.milvus_server import MilvusServer
from tests.servers.ports import free_ports

T = TypeVar("T")

CHUNK = VectorKind.CHUNK
DOWN = 5.0
"""Seconds after which a reader must have been told; a refused connection is told at once."""

BACK = 180


@pytest.fixture(scope="module", autouse=True)
def _library_is_loaded() -> None:
    """That takes seconds where a machine is busy, once a process, and tells nothing about servers."""
    importlib.import_module("pymilvus")


async def test_a_server_that_is_not_there_is_named_quickly():
    [port] = free_ports(1)
    store, corpus, vectors = MilvusVectorStore(f"http://user:secret@127.0.0.1:{port}"), new_id(), unit_vectors(1)
    for asked in (
        store.check(),
        store.search(corpus, CHUNK, vectors[0], 3),
        store.write(corpus, CHUNK, batch(["a"], vectors)),
        store.missing(corpus, CHUNK, ["a"]),
        store.count(corpus, CHUNK),
        store.delete_corpus(corpus),
    ):
        async with asyncio.timeout(DOWN):
            with pytest.raises(Unavailable, match=f"Milvus at 127.0.0.1:{port} .*HOPWEAVE_MILVUS__URI") as caught:
                await asked
        assert "secret" not in str(caught.value)


async def test_what_is_no_address_is_a_setting_to_mend():
    with pytest.raises(InvalidSettings, match="HOPWEAVE_MILVUS__URI"):
        await MilvusVectorStore("ftp://127.0.0.1:1").check()


async def test_a_server_that_is_no_milvus_is_named():
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 404 Not Found\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(other, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(DOWN):
            with pytest.raises(Unavailable, match=f"Milvus at 127.0.0.1:{port}"):
                await MilvusVectorStore(f"http://127.0.0.1:{port}").check()


@pytest.fixture(scope="module")
def server(run_own: RunOwn) -> MilvusServer:
    def make(home: Path, ports: list[int]) -> MilvusServer:
        return MilvusServer(home, port=ports[0], authorization=True, session_seconds=10)

    return run_own(make)


@pytest.fixture
async def store(server: MilvusServer) -> AsyncIterator[MilvusVectorStore]:
    store = MilvusVectorStore(server.uri, server.token)
    yield store
    await store.close()


@pytest.mark.servers
@pytest.mark.slow
@pytest.mark.parametrize("token", ["", "root:wrong", "nobody:Milvus", "junk"])
async def test_a_wrong_token_is_a_setting_to_mend(server: MilvusServer, token: str):
    store = MilvusVectorStore(server.uri, token)
    for asked in (
        store.check(),
        store.search(new_id(), CHUNK, unit_vectors(1)[0], 3),
        store.write(new_id(), CHUNK, batch(["a"], unit_vectors(1))),
    ):
        with pytest.raises(InvalidSettings, match="HOPWEAVE_MILVUS__TOKEN") as caught:
            await asked
        assert token == "" or token not in str(caught.value)


async def ask_until_answered(ask: Callable[[], Awaitable[T]]) -> T:
    """Returns the answer of a server that starts. A busy one does not answer in time, also after it has once."""
    async with asyncio.timeout(BACK):
        while True:
            try:
                return await ask()
            except Unavailable:
                await asyncio.sleep(0.2)


@pytest.mark.servers
@pytest.mark.slow
async def test_a_kill_is_told_and_the_same_store_goes_on_after_it(server: MilvusServer, store: MilvusVectorStore):
    """While the server loads its collections again, an answer is whole or there is none."""
    corpus, vectors = new_id(), unit_vectors(500)
    await store.write(corpus, CHUNK, batch(names(500), vectors))
    assert len(await store.search(corpus, CHUNK, vectors[0], 1000)) == 500
    server.kill()
    for asked in (store.check(), store.search(corpus, CHUNK, vectors[0], 3), store.count(corpus, CHUNK)):
        async with asyncio.timeout(DOWN):
            with pytest.raises(Unavailable, match=f"Milvus at 127.0.0.1:{server.port}"):
                await asked
    starting = asyncio.create_task(asyncio.to_thread(server.start))
    hits = await ask_until_answered(lambda: store.search(corpus, CHUNK, vectors[7], 1000))
    await starting
    assert len(hits) == 500
    assert hits[0].id == names(500)[7]
    await ask_until_answered(lambda: store.write(corpus, CHUNK, batch(["later"], vectors[:1])))
    assert await ask_until_answered(lambda: store.count(corpus, CHUNK)) == 501
    await ask_until_answered(lambda: store.delete_corpus(corpus))

"""A server in this process: the real stores in a temporary folder, the embedder's twin, a worker when asked."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.main import create_app
from app.container import Container
from core.settings import ApiSettings, Settings
from indexer import Worker, WorkerOptions
from tests.twins.embedder import TwinEmbedder

OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=64_000, task_seconds=60, retry_seconds=0)
BASE = "http://127.0.0.1:8000"


class Server:
    """A client, the container behind it, and what a worker would do."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.app = create_app(container=container)
        # What nobody foresaw is answered as a problem and then raised on, for the server's log: tests want the answer.
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url=BASE)

    async def work(self, corpus: str) -> None:
        """Index everything that is queued."""
        found = await self.container.record.corpora.get(corpus)
        await Worker("test", self.container.indexing, OPTIONS).work(found.id)

    async def corpus(self, name: str = "people", **settings: Any) -> None:
        answer = await self.client.post("/v1/corpora", json={"name": name, **settings})
        assert answer.status_code == 201, answer.text

    async def add(self, *documents: Mapping[str, Any], corpus: str = "people", **more: Any) -> httpx.Response:
        return await self.client.post(f"/v1/corpora/{corpus}/documents", json={"documents": documents, **more})

    async def ingest(self, *documents: Mapping[str, Any], corpus: str = "people") -> dict[str, Any]:
        """Hand in and index; returns the answer to the handing in."""
        answer = await self.add(*documents, corpus=corpus)
        assert answer.status_code == 202, answer.text
        await self.work(corpus)
        queued: dict[str, Any] = answer.json()
        return queued

    async def close(self) -> None:
        """Ends questions and MCP before the container, as the application does: a question that went on would call its
        model over a new connection, which nothing closes.
        """
        await self.app.state.questions.close()
        await self.app.state.mcp.close()
        await self.client.aclose()
        await self.container.close()


def want_each_change(server: Server) -> None:
    """Has searches wait for what was written last: else snapshots are compared with the record every two seconds, and
    a search waits for a slow comparison a fifth of a second only.
    """
    snapshots = server.container.snapshots
    snapshots._interval, snapshots._patience = 0.0, 600.0


MakeServer = Callable[..., Awaitable[Server]]


@pytest.fixture
async def make_server(tmp_path: Path) -> AsyncIterator[MakeServer]:
    servers: list[Server] = []

    async def make(api: ApiSettings | None = None, embedder: TwinEmbedder | None = None) -> Server:
        container = Container(Settings(data_dir=tmp_path, api=api or ApiSettings()))
        container.embedder = embedder or TwinEmbedder()
        servers.append(Server(container))
        return servers[-1]

    yield make
    for server in servers:
        await server.close()


@pytest.fixture
async def server(make_server: MakeServer) -> Server:
    return await make_server()


ADA = {"key": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace wrote the first program with Charles Babbage."}
BABBAGE = {
    "key": "notes/babbage",
    "title": "Charles Babbage",
    "text": "Charles Babbage designed the Analytical Engine in London.",
    "metadata": {"year": 1837},
}
BEIDA = {"key": "beida", "title": "北京大学", "text": "北京大学位于北京。"}


@pytest.fixture
async def people(server: Server) -> Server:
    """A server with one small corpus."""
    await server.corpus()
    await server.ingest(ADA, BABBAGE, BEIDA)
    return server

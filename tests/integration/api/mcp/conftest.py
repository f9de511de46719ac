"""A server that speaks MCP over a real socket, and the SDK's client, in both forms of the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from core.settings import ApiSettings, McpSettings
from tests.integration.api.asking import KEY, asking, listening
from tests.integration.api.conftest import Server
from tests.twins.chat_server import ChatServer, Reply

ANSWER = Reply.json({"answer": "Charles Babbage wrote it [2].", "support": "stated", "unstated": ""})
MODES = ("legacy", "auto")  # with a handshake, as clients had until 2026, and without

Serve = Callable[..., AbstractAsyncContextManager["Spoken"]]


class Spoken:
    """A server, and clients for it."""

    def __init__(self, server: Server, url: str) -> None:
        self.server = server
        self.url = f"{url}/mcp"

    @asynccontextmanager
    async def client(self, mode: str = "auto", key: str | None = None) -> AsyncIterator[Client]:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    @asynccontextmanager
    async def working(self, corpus: str) -> AsyncIterator[None]:
        """Indexes what is submitted while the block runs, as the worker of a server does."""

        async def work() -> None:
            while True:
                await self.server.work(corpus)
                await asyncio.sleep(0.05)

        task = asyncio.create_task(work())
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: ANSWER) as server:
        yield server


@pytest.fixture
def serve(tmp_path: Path, chat: ChatServer) -> Serve:
    """Returns a block in which a server with the corpus `people` runs. Its arguments are settings."""

    @asynccontextmanager
    async def run(api: ApiSettings | None = None, **mcp: Any) -> AsyncIterator[Spoken]:
        settings = {"api": api or ApiSettings(), "mcp": McpSettings(**mcp)}
        async with asking(tmp_path, chat, **settings) as server, listening(server) as url:
            yield Spoken(server, url)
            await server.app.state.mcp.close()

    return run


@pytest.fixture
async def spoken(serve: Serve) -> AsyncIterator[Spoken]:
    async with serve() as running:
        yield running


def data_of(result: CallToolResult) -> Any:
    """The result as data, which the text repeats."""
    assert not result.is_error, result.content
    data = json.loads(text_of(result))
    assert data == result.structured_content
    return data


def error_of(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    assert "\n" not in text_of(result)
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text

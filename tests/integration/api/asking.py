"""A server that asks a scripted language model, and its event stream as a client reads it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from app.container import Container
from core.settings import BudgetSettings, LlmSettings, Settings
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, Server
from tests.twins.chat_server import ChatServer
from tests.twins.embedder import TwinEmbedder

KEY = "sk-a-key-that-nobody-may-see"
ASK = "/v1/corpora/people/ask"
QUESTION = "Who wrote the first program?"


@dataclass(frozen=True, kw_only=True)
class Told:
    """One server-sent event."""

    id: str
    event: str
    data: Any


@asynccontextmanager
async def asking(
    folder: Path, chat: ChatServer, budget: BudgetSettings | None = None, **settings: Any
) -> AsyncIterator[Server]:
    """A server with the corpus `people`, whose model is `chat`."""
    llm = LlmSettings.model_validate({"base_url": chat.url, "api_key": KEY, "model": "twin", "retries": 0})
    container = Container(
        Settings(data_dir=folder, llm=llm, budget=budget or BudgetSettings(), reasoner="vanilla", **settings)
    )
    container.embedder = TwinEmbedder()
    server = Server(container)
    try:
        await server.corpus()
        await server.ingest(ADA, BABBAGE, BEIDA)
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def listening(server: Server) -> AsyncIterator[str]:
    """The address at which the server is reached over a real socket."""
    config = uvicorn.Config(server.app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    serving = uvicorn.Server(config)
    task = asyncio.create_task(serving.serve())
    while not serving.started:  # noqa: ASYNC110 - uvicorn tells it by an attribute
        await asyncio.sleep(0.002)
    yield f"http://127.0.0.1:{serving.servers[0].sockets[0].getsockname()[1]}"
    serving.should_exit = True
    await task


def events(text: str) -> list[Told]:
    """The events of a stream that has ended; comments are left out."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append(Told(id=fields["id"], event=fields["event"], data=json.loads(fields["data"])))
    return found

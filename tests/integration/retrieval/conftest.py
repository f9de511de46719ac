"""A world whose passages assert facts, with a scripted language model over a real socket."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.corpora import Fine
from core.ports.chat import ChatModel
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from testing.contracts.searcher import PASSAGES
from tests.searching import World, open_world
from tests.twins.chat_server import ChatServer


class OneModel:
    """The same model for every role."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def of(self, role: str) -> ChatModel:
        return self._model


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
async def world(tmp_path: Path, server: ChatServer) -> AsyncIterator[World]:
    endpoint = Endpoint(base_url=server.url)
    models = OneModel(OpenAIChat("twin", endpoint, send_metadata=True))
    async with open_world(tmp_path, fine=Fine.ON, asserting=True, models=models) as world:
        await world.put(PASSAGES)
        yield world
    await endpoint.close()

"""A scripted chat server, and an endpoint of it, for the tests of language models."""

from collections.abc import AsyncIterator, Iterator

import pytest

from models.chat.endpoint import Endpoint
from tests.twins.chat_server import ChatServer


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as scripted:
        yield scripted


@pytest.fixture
async def endpoint(server: ChatServer) -> AsyncIterator[Endpoint]:
    opened = Endpoint(base_url=server.url, timeout=20)
    yield opened
    await opened.close()

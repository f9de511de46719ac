"""A server whose language model always answers alike, for questions that it stores."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.integration.api.asking import KEY
from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import ANSWER, serving
from tests.twins.chat_server import ChatServer


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: ANSWER) as server:
        yield server


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    async with serving(tmp_path, chat) as server:
        yield server

"""A server over a real socket whose language model is scripted, and clients of other products for it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import openai
import pytest

from tests.integration.api.asking import KEY, asking, listening
from tests.integration.api.conftest import Server
from tests.twins.chat_server import ChatServer, Reply

ANSWER = Reply.json({"answer": "Charles Babbage wrote it [2].", "support": "stated", "unstated": ""})
"""An answer that cites the second passage; its marker is the first of the final answer."""


def check_refusal(answer: httpx.Response, param: str | None, said: str) -> None:
    """Checks that an answer is an error of OpenAI's form, which names a parameter."""
    is_model = param == "model"
    assert answer.status_code == (404 if is_model else 400), answer.text
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert said in error["message"]
    assert (error["param"] or "").startswith(param or "")
    assert error["type"] == "invalid_request_error"
    if param != "previous_response_id":
        assert error["code"] == ("model_not_found" if is_model else None)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: ANSWER) as server:
        yield server


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    async with asking(tmp_path, chat) as server:
        yield server


@pytest.fixture
async def address(people: Server) -> AsyncIterator[str]:
    """Where `people` answers."""
    async with listening(people) as url:
        yield url


@pytest.fixture
async def client(address: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client

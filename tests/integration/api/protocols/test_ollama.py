"""Ollama's protocol, asked by its own client over a real socket."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import ollama
import pytest

from api.protocols.ollama import VERSION
from tests.integration.api.asking import QUESTION
from tests.integration.api.conftest import Server
from tests.integration.api.protocols.conftest import ANSWER
from tests.twins.chat_server import ChatServer, Reply

_ASK = [{"role": "user", "content": QUESTION}]


@pytest.fixture
async def client(address: str) -> AsyncIterator[ollama.AsyncClient]:
    client = ollama.AsyncClient(host=address)
    yield client
    await client._client.aclose()


async def test_an_answer_with_sources_and_counts(client: ollama.AsyncClient, chat: ChatServer) -> None:
    said = await client.chat(model="people:latest", messages=_ASK, options={"num_ctx": 4096}, keep_alive=5)
    assert (said.message.content or "").startswith("Charles Babbage wrote it [1].\n\n**Sources**\n\n1. [")
    assert (said.model, said.done, said.done_reason) == ("people:latest", True, "stop")
    assert said.prompt_eval_count == chat.calls[0].prompt_tokens
    assert (said.total_duration or 0) > 0


async def test_a_stream_says_the_same_in_lines_of_json_and_is_the_default(
    client: ollama.AsyncClient, address: str
) -> None:
    whole = await client.chat(model="people", messages=_ASK)
    parts = [part async for part in await client.chat(model="people", messages=_ASK, stream=True)]
    assert "".join(part.message.content or "" for part in parts) == whole.message.content
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts) > 2
    async with httpx.AsyncClient(base_url=address, timeout=60) as raw:
        answer = await raw.post("/api/chat", json={"model": "people", "messages": _ASK})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert json.loads(answer.text.splitlines()[-1])["done"] is True


async def test_turns_and_stops_and_plain(client: ollama.AsyncClient, chat: ChatServer) -> None:
    chat.script.append(Reply.json({"question": "Whom did Ada Lovelace know?"}))
    turns = [*_ASK, {"role": "assistant", "content": "Ada."}, {"role": "user", "content": "Whom did she know?"}]
    said = await client.chat(model="people", messages=turns, options={"stop": ["wrote"]})
    assert said.message.content == "Charles Babbage "
    assert len(chat.calls) == 2
    chat.script.append(Reply(text="A title"))
    said = await client.chat(model="plain", messages=turns, options={"num_predict": 7, "temperature": 0.2})
    assert said.message.content == "A title"
    assert (chat.calls[-1].body["max_tokens"], chat.calls[-1].body["temperature"]) == (7, 0.2)


async def test_what_clients_ask_before_they_chat(client: ollama.AsyncClient, address: str) -> None:
    listed = {model.model for model in (await client.list()).models}
    assert {"people", "people:auto", "plain"} <= listed
    assert (await client.ps()).models == []
    shown = await client.show("people")
    assert shown.capabilities == ["completion"]
    async with httpx.AsyncClient(base_url=address, timeout=60) as raw:
        assert (await raw.get("/api/version")).json() == {"version": VERSION}
        assert (await raw.post("/api/show", json={"name": "people:auto"})).status_code == 200


_REFUSED: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"model": "nobody"}, 404, "nobody"),
    ({"messages": []}, 400, "at least 1"),
    ({"messages": [{**_ASK[0], "images": ["aGk="]}]}, 400, "images are refused"),
    ({"tools": [{"type": "function"}]}, 400, "calls no tools"),
    ({"format": "json"}, 400, "cited text"),
    ({"strem": False}, 400, "strem: unknown field"),
)


async def test_faults_are_errors_in_ollamas_form(client: ollama.AsyncClient, chat: ChatServer, people: Server) -> None:
    for changes, status, said in _REFUSED:
        answer = await people.client.post("/api/chat", json={"model": "people", "messages": _ASK, **changes})
        assert answer.status_code == status
        assert set(answer.json()) == {"error"}
        assert said in answer.json()["error"]
    assert "`model` is missing" in (await people.client.post("/api/show", json={})).json()["error"]
    with pytest.raises(ollama.ResponseError):
        await client.show("nobody")
    chat.script.append(Reply(status=404, text="no such model"))
    with pytest.raises(ollama.ResponseError, match="no such model"):
        await client.chat(model="people", messages=_ASK)
    chat.script.append(Reply(text=ANSWER.text, cut_after=3))
    with pytest.raises(ollama.ResponseError, match="cut off"):
        _ = [part async for part in await client.chat(model="people", messages=_ASK, stream=True)]

"""Every kind of stream ends within seconds after its key is revoked, also while there is nothing to send."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from api.access import keys, limits
from core.keys import Scope, make_key
from tests.integration.api.asking import ASK, KEY, QUESTION, asking, listening
from tests.integration.api.stored_questions import PATH
from tests.twins.chat_server import ChatServer, Reply

Prepare = Callable[[httpx.AsyncClient], Awaitable[httpx.Request]]


async def _ask(client: httpx.AsyncClient) -> httpx.Request:
    body = {"question": QUESTION, "stream": True}
    return client.build_request("POST", ASK, json=body)


async def _follow_question(client: httpx.AsyncClient) -> httpx.Request:
    asked = await client.post(PATH, json={"question": QUESTION})
    assert asked.status_code == 202, asked.text
    return client.build_request("GET", f"{PATH}/{asked.json()['id']}/events")


async def _follow_job(client: httpx.AsyncClient) -> httpx.Request:
    queued = await client.post("/v1/corpora/people/documents", json={"documents": [{"text": "never indexed"}]})
    return client.build_request("GET", f"/v1/jobs/{queued.json()['job']['id']}/events")


async def _chat_as_openai(client: httpx.AsyncClient) -> httpx.Request:
    body = {"model": "people", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    return client.build_request("POST", "/v1/chat/completions", json=body)


async def _respond_as_openai(client: httpx.AsyncClient) -> httpx.Request:
    return client.build_request("POST", "/v1/responses", json={"model": "people", "stream": True, "input": QUESTION})


async def _chat_as_ollama(client: httpx.AsyncClient) -> httpx.Request:
    body = {"model": "people", "messages": [{"role": "user", "content": QUESTION}]}
    return client.build_request("POST", "/api/chat", json=body)


async def _call_tool(client: httpx.AsyncClient) -> httpx.Request:
    arguments = {"corpus": "people", "question": QUESTION}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    return client.build_request("POST", "/mcp", json=call, headers=headers)


@pytest.mark.parametrize(
    "prepare", [_ask, _follow_question, _follow_job, _chat_as_openai, _respond_as_openai, _chat_as_ollama, _call_tool]
)
async def test_a_stream_with_nothing_to_send_ends_soon_after_its_key_is_revoked(
    tmp_path: Path, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.streams.work_stream._PING_SECONDS", 0.2)  # until the first ping, no stream has begun
    with ChatServer(api_key=KEY, respond=lambda _: Reply(stall=True)) as chat:
        async with asking(tmp_path, chat) as server, listening(server) as url:
            key, text = make_key("test", [Scope.READ, Scope.WRITE])
            async with httpx.AsyncClient(
                base_url=url, headers={"authorization": f"Bearer {text}"}, timeout=60
            ) as client:
                await server.container.record.keys.create(key)
                server.app.state.keyring._read_at = None
                request = await prepare(client)
                response = await client.send(request, stream=True)
                assert response.status_code == 200, await response.aread()
                assert "content-length" not in response.headers
                if prepare is not _follow_job:
                    await _until(lambda: chat.in_flight > 0)
                monkeypatch.setattr("api.streams.work_stream._PING_SECONDS", 3600.0)
                await server.container.record.keys.revoke(key.id)
                with pytest.raises(httpx.RemoteProtocolError):  # it is cut off, and not ended
                    await response.aread()
                await response.aclose()
                if prepare not in {_follow_job, _follow_question}:  # a stored question goes on without its reader
                    await _until(lambda: chat.in_flight == 0)
            await server.app.state.questions.close()
            await server.app.state.mcp.close()


def test_a_stream_outlives_its_key_by_less_than_three_seconds() -> None:
    """The keys are read at a look when they are older than the first, and the next look knows."""
    assert keys._FRESH_SECONDS + 2 * limits._LOOK_SECONDS < 3


async def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)

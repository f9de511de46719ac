"""MCP as HTTP: cancellation, what is refused, and that the SDK is not imported before it is needed."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.integration.api.mcp.conftest import ANSWER, MODES, Spoken, data_of
from tests.twins.chat_server import ChatServer

_HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_question_hangs_up_on_the_model(spoken: Spoken, chat: ChatServer, mode: str) -> None:
    chat.respond = lambda _: replace(ANSWER, stall=True)
    async with spoken.client(mode) as client:
        call = asyncio.create_task(client.call_tool("ask", {"question": "Who wrote the first program?"}))
        await chat.until(lambda: bool(chat.calls))
        call.cancel()
        await chat.until(lambda: chat.hung_up)
        chat.respond = lambda _: ANSWER
        assert data_of(await client.call_tool("ask", {"question": "Who wrote the first program?"}))["citations"]


async def test_a_client_that_leaves_ends_its_question(spoken: Spoken, chat: ChatServer) -> None:
    chat.respond = lambda _: replace(ANSWER, stall=True)
    params = {"name": "ask", "arguments": {"question": "Who wrote the first program?"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx.AsyncClient(timeout=60) as client:
        asking = asyncio.create_task(client.post(spoken.url, json=body, headers=_HEADERS))
        await chat.until(lambda: bool(chat.calls))
        asking.cancel()
        await chat.until(lambda: chat.hung_up)


async def test_a_session_is_no_state(spoken: Spoken) -> None:
    """A client goes on after a restart of the server, and at another of its processes."""
    async with httpx.AsyncClient(headers=_HEADERS, timeout=60) as client:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        opened = await client.post(spoken.url, json=body)
        assert len(opened.headers["mcp-session-id"]) == 32
        await spoken.server.app.state.mcp.close()
        answer = await client.post(spoken.url, json=_LIST, headers={"mcp-session-id": opened.headers["mcp-session-id"]})
        assert answer.status_code == 200
        assert "search" in answer.text
        assert (await client.delete(spoken.url)).status_code == 204


async def test_only_the_own_session_is_cancelled(spoken: Spoken, chat: ChatServer) -> None:
    chat.respond = lambda _: replace(ANSWER, stall=True)
    async with spoken.client("legacy") as client, httpx.AsyncClient(headers=_HEADERS, timeout=60) as other:
        call = asyncio.create_task(client.call_tool("ask", {"question": "Who wrote the first program?"}))
        await chat.until(lambda: bool(chat.calls))
        for number in range(5):
            params = {"requestId": number}
            notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            answer = await other.post(spoken.url, json=notification, headers={"mcp-session-id": "0" * 32})
            assert answer.status_code == 202
        assert not chat.hung_up
        assert not call.done()
        call.cancel()


_JSON = {"content-type": "application/json"}
_REFUSED: tuple[tuple[str, dict[str, Any], dict[str, str], int], ...] = (
    ("GET", {}, {}, 405),
    ("PUT", {"json": _LIST}, {}, 405),
    ("POST", {"content": "{"}, _JSON, 400),
    ("POST", {"content": "x"}, {"content-type": "text/plain"}, 415),
    ("POST", {"json": _LIST}, {"accept": "text/html"}, 406),
    ("POST", {"json": _LIST}, {"origin": "https://evil.example"}, 403),
    ("POST", {"json": _LIST}, {"host": "evil.example"}, 403),
    ("POST", {"json": _LIST}, {"mcp-protocol-version": "1999-01-01"}, 400),
    ("POST", {"json": []}, {}, 400),
    ("POST", {"content": "[" * 9_000}, _JSON, 400),
    ("POST", {"content": "[" * 100_000}, _JSON, 413),
)


async def test_what_is_no_mcp_is_refused(spoken: Spoken) -> None:
    async with httpx.AsyncClient(timeout=60) as client:
        for method, body, headers, status in _REFUSED:
            answer = await client.request(method, spoken.url, **body, headers={**_HEADERS, **headers})
            assert answer.status_code == status, (method, headers, answer.text)
            assert answer.headers.get("allow") == ("POST, DELETE" if status == 405 else None)


def test_the_sdk_is_imported_for_mcp_alone() -> None:
    code = "import sys, api.main, cli.main; sys.exit(any(name.partition('.')[0] == 'mcp' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

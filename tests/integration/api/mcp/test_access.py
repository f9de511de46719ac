"""Keys and MCP: what a key may not do is not offered, and what it may not see is not there."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from mcp import MCPError

from core.jobs import JobState
from core.keys import KeyLimits, Scope, make_key
from core.settings import ApiSettings
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, OPEN_DOCUMENT, SECRETS
from tests.integration.api.mcp.conftest import ANSWER, MODES, Serve, Spoken, data_of, error_of
from tests.integration.api.mcp.test_reading import ADMIN, READING
from tests.integration.api.mcp.test_writing import WRITING, until_one
from tests.twins.chat_server import ChatServer


async def _make_key(
    spoken: Spoken, *scopes: Scope, where: Mapping[str, Any] | None = None, limits: KeyLimits | None = None
) -> str:
    """Makes a key for the corpus `people`, which the server knows at once."""
    key, text = make_key("test", scopes, corpora=["people"], filter=where, limits=limits)
    await spoken.server.container.record.keys.create(key)
    spoken.server.app.state.keyring._read_at = None
    await spoken.server.app.state.keyring.refresh()
    return text


async def _add_documents(spoken: Spoken) -> None:
    await spoken.server.ingest(OPEN_DOCUMENT, HIDDEN_DOCUMENT)
    await spoken.server.corpus("clandestine")
    await spoken.server.ingest(HIDDEN_DOCUMENT, corpus="clandestine")


async def _find_hidden(spoken: Spoken) -> Mapping[str, Any]:
    listed = await spoken.server.client.get(f"/v1/corpora/people/documents?key={HIDDEN_DOCUMENT['key']}")
    (found,) = listed.json()["data"]
    return dict(found)


_OFFERED = {Scope.READ: READING, Scope.WRITE: WRITING, Scope.EXPORT: [], Scope.ADMIN: [*READING, *ADMIN, *WRITING]}
_CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "Ada"},
    "fetch": {"id": "people/chunks/0"},
    "ask": {"question": "Who?"},
    "list_corpora": {},
    "ingest": {"documents": [OPEN_DOCUMENT], "wait_seconds": 0},
    "delete_document": {"id": "people/documents/0"},
    "find_entities": {},
    "show_entity": {"entity": "Ada"},
    "list_proposals": {},
    "compare_documents": {"newer": "ada"},
    "make_questions": {},
    "measure_searchers": {},
    "list_certificates": {},
    "merge_entities": {"entity": "Ada", "into": "Ada Lund"},
    "reject_proposal": {"entity": "Ada", "other": "Ada Lund"},
    "undo_decision": {"id": "0"},
}


@pytest.mark.parametrize("mode", MODES)
async def test_a_key_is_offered_the_tools_of_its_scopes(serve: Serve, mode: str) -> None:
    async with serve(write=True) as spoken:
        for scope, offered in _OFFERED.items():
            async with spoken.client(mode, await _make_key(spoken, scope)) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == offered
                for tool in _CALLS.keys() - set(offered):
                    needed = "write" if tool in WRITING else "admin" if tool in ADMIN else "read"
                    message = error_of(await client.call_tool(tool, _CALLS[tool]))
                    assert f"needs a key with the scope {needed}" in message


async def test_without_a_key_nothing_is_answered(serve: Serve) -> None:
    async with serve() as spoken:
        await _make_key(spoken, Scope.READ)
        async with httpx.AsyncClient(timeout=60) as client:
            for headers in ({}, {"authorization": "Bearer hw_000000000000_x"}):
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
                answer = await client.post(spoken.url, json=body, headers=headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_key_sees_its_corpora_and_the_documents_of_its_filter(serve: Serve) -> None:
    async with serve() as spoken:
        await _add_documents(spoken)
        hidden = await _find_hidden(spoken)
        chunks = await spoken.server.client.get(f"/v1/corpora/people/documents/{hidden['id']}/chunks")
        key = await _make_key(spoken, Scope.READ, where={"team": "open"})
        async with spoken.client(key=key) as client:
            corpora = data_of(await client.call_tool("list_corpora"))["corpora"]
            assert [one["name"] for one in corpora] == ["people"]
            found = await client.call_tool("search", {"query": "Zarathustra Xylophone sold the Quixotic Ledger"})
            assert [one["title"] for one in data_of(found)["results"]] == ["Ada Lovelace"]
            other = await client.call_tool("search", {"query": "Ledger", "corpus": "clandestine"})
            assert "there is no corpus" in error_of(other)
            own = {"query": "Ledger", "filter": {"team": {"$in": ["open", "hidden"]}}}
            assert _tells_no_secret(str(data_of(await client.call_tool("search", own))))
            for id in (f"people/documents/{hidden['id']}", f"people/chunks/{chunks.json()['data'][0]['id']}"):
                message = error_of(await client.call_tool("fetch", {"id": id}))
                assert _tells_no_secret(message)
            asked = await client.call_tool("ask", {"question": "Who sold the Quixotic Ledger?"})
            assert _tells_no_secret(str(data_of(asked)["citations"]))


def _tells_no_secret(text: str) -> bool:
    return not any(secret in text.lower() for secret in SECRETS)


async def test_a_key_with_a_filter_writes_within_it(serve: Serve) -> None:
    outside = {"key": "new", "text": "A new text.", "metadata": {"team": "hidden"}}
    async with serve(write=True) as spoken:
        await _add_documents(spoken)
        hidden = await _find_hidden(spoken)
        key = await _make_key(spoken, Scope.READ, Scope.WRITE, where={"team": "open"})
        async with spoken.client(key=key) as client:
            assert "filter" in error_of(await client.call_tool("ingest", {"documents": [outside]}))
            error_of(await client.call_tool("delete_document", {"id": f"people/documents/{hidden['id']}"}))
        kept = await spoken.server.container.record.corpora.get("people")
        assert (await spoken.server.container.record.documents.get(kept.id, hidden["id"])).key == hidden["key"]
        async with spoken.client(key=key) as client:
            document = {"key": "new", "text": "A new text.", "metadata": {"team": "open"}}
            call = asyncio.create_task(client.call_tool("ingest", {"documents": [document], "wait_seconds": 600}))
            await until_one(spoken.server.container.record.jobs, JobState.QUEUED)
            call.cancel()
            await until_one(spoken.server.container.record.jobs, JobState.CANCELLED)
        limited = await _make_key(spoken, Scope.READ, Scope.WRITE, limits=KeyLimits(ingest_bytes=100))
        async with spoken.client(key=limited) as client:
            document = {"key": "long", "text": "x" * 101}
            assert "100" in error_of(await client.call_tool("ingest", {"documents": [document]}))


@pytest.mark.parametrize("mode", MODES)
async def test_the_streams_of_a_key_are_limited(serve: Serve, chat: ChatServer, mode: str) -> None:
    chat.respond = lambda _: replace(ANSWER, stall=True)
    question = {"question": "Who wrote the first program?"}
    async with serve(ApiSettings(max_streams=1)) as spoken:
        key = await _make_key(spoken, Scope.READ)

        async def listen(*_: object) -> None: ...

        async with spoken.client(mode, key) as client:
            first = asyncio.create_task(client.call_tool("ask", question, progress_callback=listen))
            await chat.until(lambda: chat.calls)
            async with spoken.client("auto", key) as other:
                with pytest.raises(MCPError):
                    await other.call_tool("ask", question, progress_callback=listen)
            first.cancel()
            await chat.until(lambda: len(chat.hung_up) == len(chat.calls))


async def test_counts_are_told_to_keys_that_see_all_documents(serve: Serve) -> None:
    async with serve() as spoken:
        await _add_documents(spoken)
        for where, counted in ((None, True), ({"team": "open"}, False)):
            key = await _make_key(spoken, Scope.READ, where=where)
            async with spoken.client(key=key) as client:
                (people,) = data_of(await client.call_tool("list_corpora"))["corpora"]
                assert (people["documents"] is not None, people["passages"] is not None) == (counted, counted)

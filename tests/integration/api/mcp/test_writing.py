"""The tools that write: off by default, and what they do where they are switched on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from mcp import Client

import api.mcp.tools.ingest
from app.services.ingestion import submit_all
from core.jobs import JobState
from core.ports.record import Jobs
from tests.integration.api.mcp.conftest import Serve, data_of, error_of

WRITING = ["ingest", "delete_document", "merge_entities", "reject_proposal", "undo_decision"]
LOOM = {"key": "loom", "title": "The Loom", "text": "Joseph Jacquard built a loom.", "metadata": {"year": 1804}}


async def test_they_are_offered_where_they_are_switched_on(serve: Serve) -> None:
    async with serve(write=True) as spoken, spoken.client() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools)[-5:] == WRITING
    for name, is_idempotent in (("merge_entities", False), ("reject_proposal", True), ("undo_decision", False)):
        hints = tools[name].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (False, False, is_idempotent)
    for name in ("ingest", "delete_document"):
        hints = tools[name].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint) == (False, True)
        assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)
    assert "paths" not in tools["ingest"].input_schema["properties"]


async def test_a_document_is_added_found_replaced_and_deleted(serve: Serve) -> None:
    told: list[tuple[float, float | None]] = []

    async def listen(progress: float, total: float | None, _message: str | None) -> None:
        told.append((progress, total))

    async with serve(write=True) as spoken, spoken.client() as client, spoken.working("people"):
        added = data_of(await client.call_tool("ingest", {"documents": [LOOM]}, progress_callback=listen))
        assert added["state"] == "done"
        assert added["counts"] == {"indexed": 1}
        (document,) = added["documents"]
        assert (document["key"], document["state"]) == ("loom", "indexed")
        assert "The Loom" in await _titles(client, "Joseph Jacquard")
        again = data_of(await client.call_tool("ingest", {"documents": [LOOM]}))
        assert again["counts"] == {"unchanged": 1}
        deleted = data_of(await client.call_tool("delete_document", {"id": document["id"]}))
        assert deleted["id"] == document["id"]
        assert "The Loom" not in await _titles(client, "Joseph Jacquard")
    assert told
    assert [number for number, _ in told] == sorted({number for number, _ in told})


async def test_a_document_is_for_those_whom_its_access_names(serve: Serve) -> None:
    async with serve(write=True) as spoken, spoken.client() as client, spoken.working("people"):
        given = {**LOOM, "access": ["group:weavers", "user:ada"]}
        for document, access in ((given, given["access"]), (LOOM, given["access"]), ({**LOOM, "access": []}, [])):
            data_of(await client.call_tool("ingest", {"documents": [document]}))
            (listed,) = (await spoken.server.client.get("/v1/corpora/people/documents?key=loom")).json()["data"]
            assert listed["access"] == access
        for wrong in ("weavers", ["weavers"], ["group:"]):
            assert "access" in error_of(await client.call_tool("ingest", {"documents": [{**LOOM, "access": wrong}]}))


async def _titles(client: Client, query: str) -> list[str]:
    return [one["title"] for one in data_of(await client.call_tool("search", {"query": query}))["results"]]


async def test_indexing_goes_on_after_the_wait(serve: Serve) -> None:
    async with serve(write=True) as spoken, spoken.client() as client:
        added = data_of(await client.call_tool("ingest", {"documents": [LOOM], "wait_seconds": 0}))
        assert added["state"] == "queued"
        await spoken.server.work("people")
        assert "The Loom" in await _titles(client, "Joseph Jacquard")


async def test_a_cancelled_ingest_cancels_its_job(serve: Serve) -> None:
    async with serve(write=True) as spoken, spoken.client() as client:
        call = asyncio.create_task(client.call_tool("ingest", {"documents": [LOOM], "wait_seconds": 600}))
        jobs = spoken.server.container.record.jobs
        await until_one(jobs, JobState.QUEUED)
        call.cancel()
        await until_one(jobs, JobState.CANCELLED)


async def test_a_job_that_is_not_known_yet_is_cancelled_too(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async def submit_slowly(*arguments: Any) -> AsyncIterator[Any]:
        async with aclosing(submit_all(*arguments)) as parts:
            async for part in parts:
                await asyncio.sleep(0.5)  # the job is in the record
                yield part

    monkeypatch.setattr(api.mcp.tools.ingest, "submit_all", submit_slowly)
    async with serve(write=True) as spoken, spoken.client() as client:
        call = asyncio.create_task(client.call_tool("ingest", {"documents": [LOOM], "wait_seconds": 600}))
        jobs = spoken.server.container.record.jobs
        await until_one(jobs, JobState.QUEUED)
        call.cancel()
        await until_one(jobs, JobState.CANCELLED)


async def until_one(jobs: Jobs, state: JobState) -> None:
    async with asyncio.timeout(60):
        while not await jobs.list(limit=1, state=state):  # noqa: ASYNC110 - the record tells nobody of changes
            await asyncio.sleep(0.02)


async def test_errors_name_the_remedy(serve: Serve) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("ingest", {"documents": []}, "documents"),
        ("ingest", {"documents": [{"key": "a"}]}, "documents.0.text"),
        ("ingest", {"documents": [{"key": "a", "text": "b", "metadata": {"x": [[[[[[[[]]]]]]]]}}] * 101}, "documents"),
        ("ingest", {"documents": [LOOM], "corpus": "nowhere"}, "nowhere"),
        ("ingest", {"documents": [LOOM], "paths": ["/etc/passwd"]}, "paths"),
        ("delete_document", {"id": "people/chunks/0"}, "`fetch`"),
        ("delete_document", {"id": "people/documents/0"}, "0"),
    ]
    async with serve(write=True) as spoken, spoken.client() as client:
        for tool, arguments, named in cases:
            assert named in error_of(await client.call_tool(tool, arguments))

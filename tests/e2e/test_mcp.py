"""`hopweave mcp` as clients start it: the SDK's client over standard streams, the built-in model, a worker."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from stores.sqlite import SqliteRecord
from tests.integration.api.mcp.conftest import data_of, error_of

pytestmark = pytest.mark.slow

_HOPWEAVE = Path(sys.executable).with_name("hopweave")


@asynccontextmanager
async def _starting(folder: Path, *arguments: str, mode: str = "auto", **settings: str) -> AsyncIterator[Client]:
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(folder / "data"), "HF_HUB_OFFLINE": "1", **settings}
    command = StdioServerParameters(command=str(_HOPWEAVE), args=["mcp", *arguments], env=environment, cwd=folder)
    async with Client(command, mode=mode) as client:
        yield client


async def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    async with _starting(tmp_path) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == [
            "search",
            "fetch",
            "ask",
            "list_corpora",
            "find_entities",
            "show_entity",
            "list_proposals",
            "compare_documents",
            "make_questions",
            "measure_searchers",
            "list_certificates",
        ]
        for tool, arguments in (("search", {"query": "Ada"}), ("list_corpora", {})):
            assert "hopweave ingest" in error_of(await client.call_tool(tool, arguments))
        assert "HOPWEAVE_MCP__WRITE=true" in error_of(await client.call_tool("ingest", {"paths": ["."]}))
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a path of pathlib would block


async def test_files_within_the_root_are_ingested_found_and_deleted(tmp_path: Path) -> None:
    """With a handshake, as the other tests are without: `tests/integration/api/mcp` has all in both modes."""
    root = tmp_path / "papers"
    _write_papers(root)
    told: list[float] = []

    async def listen(progress: float, _total: float | None, _message: str | None) -> None:
        told.append(progress)

    async with _starting(tmp_path, "--root", str(root), "--write", mode="legacy") as client:
        arguments = {"paths": ["."], "corpus": "papers", "access": ["group:papers"], "wait_seconds": 300}
        added = data_of(await client.call_tool("ingest", arguments, progress_callback=listen))
        assert added["state"] == "done"
        assert [one["key"] for one in added["documents"]] == ["ada.txt", "more/engine.md"]
        assert {one["source"] for one in added["rejected"]} == {"folder", "link.txt", "more/hidden.txt"}
        assert told
        for path in ("..", "/etc/passwd", "folder/secret.txt", "link.txt", ".hidden.txt", "more/hidden.txt", "a\0b"):
            assert "path" in error_of(await client.call_tool("ingest", {"paths": [path], "corpus": "papers"}))
        assert "no-such.txt" in error_of(await client.call_tool("ingest", {"paths": ["no-such.txt"]}))
        found = data_of(await client.call_tool("search", {"query": "Who designed the engine?"}))["results"]
        assert found[0]["title"] == "Engine"
        read = data_of(await client.call_tool("fetch", {"id": found[0]["id"]}))
        assert read["metadata"]["key"] == "more/engine.md"
        answer = data_of(await client.call_tool("ask", {"question": "Who designed the engine?"}))
        assert "Charles Babbage designed it" in answer["answer"]
        data_of(await client.call_tool("delete_document", {"id": read["metadata"]["document"]}))
        left: list[dict[str, Any]] = data_of(await client.call_tool("search", {"query": "engine"}))["results"]
        assert [one["title"] for one in left] == ["ada"]
    record = SqliteRecord(tmp_path / "data" / "record.db")
    corpus = await record.corpora.get("papers")
    assert [one.access for one in (await record.documents.list(corpus.id, limit=9)).data] == [("group:papers",)]
    await record.close()


def _write_papers(root: Path) -> None:
    """A folder with two documents, and with links and hidden files that may not be read."""
    outside = root.parent / "outside"
    for folder in (root / "more", outside):
        folder.mkdir(parents=True)
    (outside / "secret.txt").write_text("The secret.", encoding="utf-8")
    (root / "ada.txt").write_text("Ada Lovelace wrote the first program.", encoding="utf-8")
    (root / "more" / "engine.md").write_text("# Engine\n\nCharles Babbage designed it in London.", encoding="utf-8")
    (root / ".hidden.txt").write_text("The password.", encoding="utf-8")
    (root / "more" / "hidden.txt").symlink_to("../.hidden.txt")
    (root / "link.txt").symlink_to("../outside/secret.txt")
    (root / "folder").symlink_to(outside)


async def test_texts_need_no_root(tmp_path: Path) -> None:
    document = {"key": "ada", "text": "Ada Lovelace wrote the first program."}
    async with _starting(tmp_path, HOPWEAVE_MCP__WRITE="true", HOPWEAVE_MCP__CORPUS="notes") as client:
        assert "--root" in error_of(await client.call_tool("ingest", {"paths": ["ada.txt"]}))
        added = data_of(await client.call_tool("ingest", {"documents": [document], "wait_seconds": 300}))
        assert (added["corpus"], added["state"]) == ("notes", "done")

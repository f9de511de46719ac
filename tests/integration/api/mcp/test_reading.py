"""The tools that read, as the SDK's client calls them."""

from typing import Any

import httpx
import pytest

from core.settings import ApiSettings
from tests.integration.api.mcp.conftest import MODES, Serve, Spoken, data_of, error_of

READING = [
    *("search", "fetch", "ask", "list_corpora", "find_entities", "show_entity", "list_proposals"),
    *("compare_documents", "make_questions", "measure_searchers"),
]
ADMIN = ["list_certificates"]
"""For keys with the scope `admin`, and without keys."""

_HINTS = ("read_only", "destructive", "idempotent", "open_world")


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_described_in_full(spoken: Spoken, mode: str) -> None:
    async with spoken.client(mode) as client:
        assert client.instructions is not None
        assert (client.protocol_version >= "2026") == (mode == "auto")
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [*READING, *ADMIN]
    for tool in tools:
        assert tool.title
        assert tool.description is not None
        assert tool.annotations is not None
        hints = {f"{name}_hint": name in ("read_only", "idempotent") for name in _HINTS}
        assert tool.annotations.model_dump() == {"title": tool.title, **hints}
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            assert "$ref" not in str(schema)
            assert "$defs" not in schema
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]


@pytest.mark.parametrize("mode", MODES)
async def test_search_and_fetch_have_the_forms_of_chat_products(spoken: Spoken, mode: str) -> None:
    async with spoken.client(mode) as client:
        for more, titles in (
            ({"filter": {"year": {"$lt": 1900}}}, ["Charles Babbage"]),
            ({"corpus": None, "k": None, "filter": None}, None),  # null is as if it were left out
        ):
            some = data_of(await client.call_tool("search", {"query": "Ada Lovelace", **more}))["results"]
            assert some
            assert titles in (None, [one["title"] for one in some])
        found = data_of(await client.call_tool("search", {"query": "Analytical Engine in London", "k": 2}))
        assert list(found) == ["results"]
        assert len(found["results"]) == 2
        assert all(list(one) == ["id", "title", "url"] for one in found["results"])
        best = found["results"][0]
        assert best["title"] == "Charles Babbage"
        read = data_of(await client.call_tool("fetch", {"id": best["id"]}))
        assert list(read) == ["id", "title", "text", "url", "metadata"]
        assert read["id"] == best["id"]
        assert read["url"] == best["url"]
        assert read["text"] == "Charles Babbage designed the Analytical Engine in London."
        assert read["metadata"]["key"] == "notes/babbage"
        assert read["metadata"]["corpus"] == "people"
        assert read["metadata"]["properties"]["year"] == 1837
        whole = data_of(await client.call_tool("fetch", {"id": read["metadata"]["document"]}))
        assert whole["text"] == read["text"]
        assert whole["id"] == read["metadata"]["document"]
    async with httpx.AsyncClient(timeout=60) as browser:
        original = await browser.get(best["url"])
    assert read["text"] in original.text


async def test_links_have_the_public_address(serve: Serve) -> None:
    async with serve(ApiSettings(public_url="https://search.example/")) as spoken, spoken.client() as client:
        await spoken.server.ingest(
            {"key": "web", "text": "A page on looms.", "metadata": {"url": "https://looms.example/1"}}
        )
        found = data_of(await client.call_tool("search", {"query": "Who was Ada Lovelace?", "k": 50}))["results"]
        read = data_of(await client.call_tool("fetch", {"id": found[0]["id"]}))
        whole = data_of(await client.call_tool("fetch", {"id": read["metadata"]["document"]}))
    page = "https://search.example/c/people/documents/"
    linked = [one for one in found if one["url"].startswith(page)]
    assert len(linked) == 3
    assert all(one["url"].endswith(f"?chunk={one['id'].rpartition('/')[2]}") for one in linked)
    assert [one["url"] for one in found if one not in linked] == ["https://looms.example/1"], "the document's own"
    assert read["metadata"]["link"].startswith(page)
    assert read["metadata"]["link"].endswith(f"?chunk={found[0]['id'].rpartition('/')[2]}")
    assert whole["metadata"]["link"] == read["metadata"]["link"].partition("?")[0]


async def test_a_passage_comes_with_its_neighbours_and_a_document_in_parts(spoken: Spoken) -> None:
    sentences = [f"Sentence {number} says that the loom has {number} threads." for number in range(3000)]
    await spoken.server.ingest({"key": "long", "title": "Looms", "text": " ".join(sentences)})
    async with spoken.client() as client:
        arguments = {"query": "1500 threads", "k": 1, "filter": {"$key": "long"}}
        found = data_of(await client.call_tool("search", arguments))["results"]
        read = data_of(await client.call_tool("fetch", {"id": found[0]["id"]}))
        passage = read["metadata"]["passage"]
        assert passage in read["text"]
        assert len(read["text"]) > 3 * len(passage)
        assert read["text"] in " ".join(sentences)  # what passages share comes once
        parts, id = [], read["metadata"]["document"]
        while id:
            part = data_of(await client.call_tool("fetch", {"id": id}))
            parts.append(part["text"])
            id = part["metadata"].get("next")
            assert part["metadata"]["characters"] == len(" ".join(sentences))
    assert len(parts) > 2
    assert "".join(parts) == " ".join(sentences)


@pytest.mark.parametrize("mode", MODES)
async def test_ask_cites_and_reports_its_progress(spoken: Spoken, mode: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def listen(progress: float, _total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with spoken.client(mode) as client:
        question = {"question": "Who wrote the first program?"}
        answer = data_of(await client.call_tool("ask", question, progress_callback=listen))
        assert answer["answer"] == "Charles Babbage wrote it [1]."
        assert answer["support"] == "stated"
        assert answer["abstained"] is False
        (citation,) = answer["citations"]
        read = data_of(await client.call_tool("fetch", {"id": citation["id"]}))
        assert citation["quote"] in read["text"]
        assert citation["url"] == read["url"]
    assert [number for number, _ in told] == sorted({number for number, _ in told})
    assert any(message is not None and message.startswith("searched for") for _, message in told)


async def test_of_several_corpora_one_is_named_or_set(serve: Serve) -> None:
    async with serve() as spoken, spoken.client() as client:
        await spoken.server.corpus("empty")
        corpora = data_of(await client.call_tool("list_corpora"))["corpora"]
        assert [(one["name"], one["documents"]) for one in corpora] == [("empty", 0), ("people", 3)]
        message = error_of(await client.call_tool("search", {"query": "Ada"}))
        assert "empty, people" in message
        assert "`corpus`" in message
        assert data_of(await client.call_tool("search", {"query": "Ada", "corpus": "people"}))["results"]
        assert not data_of(await client.call_tool("search", {"query": "Ada", "corpus": "empty"}))["results"]


async def test_the_corpus_of_the_setting_is_used(serve: Serve) -> None:
    async with serve(corpus="people") as spoken, spoken.client() as client:
        await spoken.server.corpus("empty")
        assert data_of(await client.call_tool("search", {"query": "Ada"}))["results"]


_ERRORS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("search", {}, ["query", "input schema"]),
    ("search", {"query": ""}, ["query"]),
    ("search", {"query": "x" * 20_001}, ["query"]),
    ("search", {"query": "Ada", "k": 51}, ["k", "50"]),
    ("search", {"query": "Ada", "limit": 3}, ["limit", "unknown argument"]),
    ("search", {"query": "Ada", "corpus": "nowhere"}, ["nowhere", "people"]),
    ("search", {"query": "Ada", "corpus": "../x"}, ["../x"]),
    ("search", {"query": "Ada", "filter": {"year": {"$near": 3}}}, ["$near"]),
    ("fetch", {"id": "https://example.com/"}, ["https://example.com/", "search"]),
    ("fetch", {"id": "people/chunks/0000"}, ["people/chunks/0000", "search"]),
    ("fetch", {"id": "people/documents/0000"}, ["0000"]),
    ("fetch", {"id": "../../etc/passwd"}, ["etc/passwd"]),
    ("ask", {"question": "Who?", "corpus": "nowhere"}, ["nowhere"]),
    ("serach", {"query": "Ada"}, ["serach", "search, fetch, ask, list_corpora"]),
    ("ingest", {"documents": []}, ["HOPWEAVE_MCP__WRITE=true"]),
    ("delete_document", {"id": "people/documents/0"}, ["HOPWEAVE_MCP__WRITE=true"]),
)


async def test_an_error_is_a_sentence_with_the_remedy(spoken: Spoken) -> None:
    async with spoken.client() as client:
        for tool, arguments, named in _ERRORS:
            message = error_of(await client.call_tool(tool, arguments))
            assert all(one in message for one in named), (tool, arguments, message)


async def test_what_nobody_foresaw_is_not_told(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a secret of Ada")

    monkeypatch.setattr("api.mcp.tools.search.link_to", fail)
    async with spoken.client() as client:
        message = error_of(await client.call_tool("search", {"query": "Ada"}))
    assert "secret" not in message
    assert "log" in message

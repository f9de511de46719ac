"""Parts of MCP without a client: references, links, schemas, and progress that nobody reads."""

import asyncio
from typing import Any

import pytest

from api.mcp.tool import link_to, parse_reference, schema_of, sending_progress
from api.mcp.tools.ingest import INGEST_FILES
from api.mcp.tools.search import join_passages
from core.documents import Chunk, Span
from core.errors import InvalidInput


@pytest.mark.parametrize("text", ["people/chunks/00ff", "a-b_1/documents/0", "people/documents/0/40000"])
def test_a_reference_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_reference(f" {text} ")) == text


_NO_REFERENCES = ("", "x", "people/chunks/", "people/chunks/..", "people/jobs/0", "People/chunks/0", "a/chunks/0/1")


@pytest.mark.parametrize("text", [*_NO_REFERENCES, "a/documents/0/-1"])
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="search"):
        parse_reference(text)


def test_only_an_address_of_the_web_is_a_link() -> None:
    server, link = "http://127.0.0.1:8000", "https://search.example/c/people/documents/0?chunk=1"
    own = f"{server}/v1/corpora/people/documents/0/content"
    assert link_to(server, "people", "0", {"url": "https://example.com/a"}, link) == "https://example.com/a"
    for url in ("javascript:alert(1)", "file:///etc/passwd", 7, None, "", "https:evil"):
        assert link_to(server, "people", "0", {"url": url}, None) == own
        assert link_to(server, "people", "0", {"url": url}, link) == link


def test_a_schema_has_no_references() -> None:
    schema = schema_of(INGEST_FILES.arguments)
    document = schema["properties"]["documents"]["items"]
    assert document["required"] == ["key", "text"]
    assert set(document["properties"]) == {"key", "text", "title", "metadata", "access"}
    assert "$ref" not in str(schema)
    assert "title" not in schema


def test_what_passages_share_comes_once() -> None:
    text = "One. Two. Three. Four."

    def cut(number: int, start: int, end: int) -> Chunk:
        of: dict[str, Any] = {"id": str(number), "view_id": "", "document_id": "0", "position": number}
        of |= {"page": None, "heading": ""}
        return Chunk(**of, text=text[start:end], span=Span(start=start, end=end))

    chunks = [cut(0, 0, 9), cut(1, 5, 16), cut(2, 17, 22)]
    assert join_passages(chunks) == "One. Two. Three.\n\nFour."


async def test_progress_is_sent_in_order_and_numbers_grow() -> None:
    sent: list[tuple[float, float | None, str]] = []

    async def send(done: float, total: float | None, text: str) -> None:
        await asyncio.sleep(0)
        sent.append((done, total, text))

    async with sending_progress(send) as progress:
        progress("begun")
        for done in (10, 10, 5, 20):
            progress(f"{done} of 20", done=done, total=20)
    assert sent == [(1, None, "begun"), (10, 20, "10 of 20"), (20, 20, "20 of 20")]


async def test_a_client_that_is_gone_stops_nothing() -> None:
    async def send(*_: object) -> None:
        raise ConnectionError

    async with sending_progress(send) as progress:
        for number in range(1000):
            progress(str(number))

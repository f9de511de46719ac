"""Single values that are much larger than honest ones: each is refused by name, and keeps nobody waiting."""

import asyncio
import json
from typing import Any

import pytest

from api.transport import bodies
from core.documents import MAX_METADATA_LENGTH, MAX_METADATA_VALUES
from core.filters import MAX_CHARACTERS, parse_filter
from core.record_policy import documents
from core.record_policy.documents import MatchCache, Matches
from core.strategies import MAX_SPEC_LENGTH
from tests.integration.api.asgi import make_scope
from tests.integration.api.conftest import ADA, Server

_LONG = "a" * 1_000_000


_LONG_BODIES: tuple[dict[str, Any], ...] = (
    {"query": "x", "searcher": f"fine:damping={_LONG}"},
    {"query": "x", "searcher_options": {"x": "fine:a=0+" * 10_000}},
    {"question": "x", "reasoner": f"extractive:a={_LONG}"},
    {"query": "x", "filter": {"s": _LONG}},
    {"query": "x", "filter": {"s": {"$in": ["x" * 5_000] * 5}}},
    {"query": "x", "filter": {_LONG: 1}},
)


async def test_long_strategies_and_filters_are_refused(server: Server) -> None:
    await server.corpus()
    for body in _LONG_BODIES:
        path = "ask" if "question" in body else "search"
        answer = await server.client.post(f"/v1/corpora/people/{path}", json=body)
        assert answer.status_code == 422, answer.text
        assert len(answer.text) < 5_000, "the message repeats a part of it"


async def test_honest_strategies_and_filters_are_taken(server: Server) -> None:
    await server.corpus()
    await server.ingest(ADA)
    body = {"query": "Ada", "filter": {"s": {"$in": ["x" * (MAX_CHARACTERS // 2), "y" * (MAX_CHARACTERS // 4)]}}}
    assert (await server.client.post("/v1/corpora/people/search", json=body)).status_code == 200
    spec = "fused:" + ",".join(["lexical=0.5"] * (MAX_SPEC_LENGTH // 20))
    answer = await server.client.post("/v1/corpora/people/search", json={"query": "x", "searcher": spec})
    assert "characters" not in answer.text


_LARGE_METADATA: tuple[dict[str, Any], ...] = (
    {"s": "x" * (MAX_METADATA_LENGTH + 1)},
    {"s": ["x" * 1000] * (MAX_METADATA_LENGTH // 1000 + 1)},
    {f"name {n}": 1 for n in range(MAX_METADATA_VALUES + 1)},
    {"s": {"deep": list(range(MAX_METADATA_VALUES))}},
)


async def test_metadata_of_a_sender_are_bounded_and_changes_do_not_add_up_to_more(server: Server) -> None:
    await server.corpus()
    for metadata in _LARGE_METADATA:
        refused = await server.add({**ADA, "metadata": metadata})
        assert refused.status_code == 422, refused.text
        assert "metadata" in refused.text
        assert len(refused.text) < 5_000
    [document] = (await server.ingest(ADA))["documents"]
    path = f"/v1/corpora/people/documents/{document['id']}"
    half = "x" * (MAX_METADATA_LENGTH // 2)
    assert (await server.client.patch(path, json={"metadata": {"a": half}})).status_code == 202
    await server.work("people")
    refused = await server.client.patch(path, json={"metadata": {"b": half + "x"}})
    assert refused.status_code == 422, refused.text
    assert "`metadata` has" in refused.text


async def test_the_largest_metadata_of_a_file_are_left_out_with_a_note(server: Server) -> None:
    await server.corpus()
    page = f"---\nteam: open\nlong: {'x' * (MAX_METADATA_LENGTH + 1)}\n---\n\nAda wrote it.\n"
    files = {"file": ("a.md", page.encode(), "text/markdown")}
    assert (await server.client.post("/v1/corpora/people/documents", files=files)).status_code == 202
    await server.work("people")
    [document] = (await server.client.get("/v1/corpora/people/documents")).json()["data"]
    assert document["state"] == "indexed", document
    assert document["metadata"]["team"] == "open"
    assert "long" not in document["metadata"]
    assert "'long' of its metadata is left out" in json.dumps(document)


_MANY_FILES = "{" + ",".join(f'"{n}":{{"key":"k"}}' for n in range(20_000)) + "}"
_MANY_VALUES = '{"a":[' + "[]," * 60_000 + "1]}"


async def test_a_manifest_of_many_values_is_refused(server: Server) -> None:
    await server.corpus()
    files = {"file": ("a.txt", b"Ada.", "text/plain")}
    for manifest in (_MANY_FILES, _MANY_VALUES):
        answer = await server.client.post("/v1/corpora/people/estimates", files=files, data={"manifest": manifest})
        assert answer.status_code in (413, 422)
        assert "manifest" in answer.text
        assert len(answer.text) < 50_000


async def test_bodies_that_do_not_end_leave_room_for_ordinary_ones(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_MOST_WAITING", 3_000_000)
    await server.corpus()
    going_on = asyncio.Event()
    statuses: list[int] = []

    async def call(count: int) -> None:
        sent = 0

        async def receive() -> Any:
            nonlocal sent
            sent += 1
            if sent > count:
                await going_on.wait()
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": b" " * 1_000_000, "more_body": True}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"content-type", b"application/json")]
        await server.app(make_scope("/v1/corpora/people/documents", "POST", headers), receive, send)

    calls = [asyncio.create_task(call(2)) for _ in range(4)]
    for _ in range(3000):
        if bodies._WAITING.bytes >= 2_000_000 and statuses:
            break
        await asyncio.sleep(0.01)
    assert set(statuses) == {503}
    found = await server.client.post("/v1/corpora/people/search", json={"query": "Ada"})
    assert found.status_code == 200, "small bodies are received"
    going_on.set()
    await asyncio.gather(*calls, return_exceptions=True)
    assert bodies._WAITING.bytes == 0


def test_filters_are_kept_by_a_digest_and_in_number() -> None:
    cache = MatchCache()
    for number in range(documents._MOST_FILTERS + 10):
        cache.put("c", parse_filter({"s": number}), Matches(version=1, ids=frozenset()))
    assert len(cache._matches) == documents._MOST_FILTERS
    cache.put("c", parse_filter({"s": "x" * (MAX_CHARACTERS - 1)}), Matches(version=1, ids=frozenset()))
    assert max(len(at) for _, at in cache._matches) < 100

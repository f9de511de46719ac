"""Values that no honest client sends, in every field and parameter, and clients that leave: the server goes on."""

import asyncio
import json
import re
from typing import Any

from tests.integration.api.asking import listening
from tests.integration.api.conftest import ADA, Server

HUGE = "9" * 5000
NESTED = "[" * 10_000 + "]" * 10_000
RAW = [
    *("NaN", "Infinity", "-Infinity", "-0", "1e308", "1e400", HUGE, f"-{HUGE}", NESTED),
    '{"a":' * 9_000 + "1" + "}" * 9_000,
]
TEXTS = [r'"\ud800"', r'"\udfff x"', r'"\u0000"', '""', '"' + "x" * 100_000 + '"', r'"\u202e\uffff"']
CORPUS = "/v1/corpora/people"
BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/corpora", {"name": "b", "chunker": "x", "extractor": "x", "fine": "on"}),
    ("PATCH", CORPUS, {"name": "people"}),
    ("POST", f"{CORPUS}/reindex", {"chunker": "x", "extractor": "x", "fine": "x"}),
    ("POST", f"{CORPUS}/documents", {"documents": [], "on_conflict": "x", "budget": {"tokens": 1}}),
    *(
        ("POST", f"{CORPUS}/documents", {"documents": [{"text": "t", name: None}]})
        for name in ("key", "title", "text", "chunks", "content", "media_type", "metadata", "entities", "triples")
    ),
    ("POST", f"{CORPUS}/documents", {"documents": [{"chunks": [{"text": "t", "page": 1, "triples": []}]}]}),
    ("POST", f"{CORPUS}/estimates", {"documents": [{"text": "t", "metadata": {"year": 1}}]}),
    ("POST", f"{CORPUS}/documents/delete", {"keys": ["x"], "filter": {"year": 1}}),
    (
        "POST",
        f"{CORPUS}/search",
        {"query": "Who?", "searcher": "fused", "searcher_options": {"damping": 0.5, "pool": 10}, "k": 1}
        | {"filter": {"year": {"$gt": 1}}, "min_similarity": 0, "min_generation": 0, "explain": True, "web": False}
        | {"context": 1, "group_by": "document"},
    ),
    (
        "POST",
        f"{CORPUS}/ask",
        {"question": "Who?", "reasoner": "extractive", "options": {"sentences": 1}, "searcher": "fused"}
        | {"searcher_options": {}, "instructions": "", "k": 1, "filter": None, "budget": {"calls": 1, "seconds": 1}}
        | {"history": [{"role": "user", "content": "x"}], "web": False, "unsupported": None, "stream": False},
    ),
    ("POST", "/v1/jobs/x/resume", {"budget": {"tokens": 1}}),
]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a body that holds a value, the inner ones too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for name, one in inner for place in places(one, (*at, name)))]


def put(value: Any, at: tuple[Any, ...], raw: str) -> str:
    """The body as JSON, with `raw` at one place."""
    if not at:
        return raw
    if isinstance(value, dict):
        members = (
            f"{json.dumps(name)}: {put(one, at[1:], raw) if name == at[0] else json.dumps(one)}"
            for name, one in value.items()
        )
        return f"{{{', '.join(members)}}}"
    elements = (put(one, at[1:], raw) if place == at[0] else json.dumps(one) for place, one in enumerate(value))
    return f"[{', '.join(elements)}]"


async def test_a_hostile_value_in_a_body_is_refused_or_taken_as_it_is(people: Server) -> None:
    failed = []
    headers = {"content-type": "application/json"}
    for method, path, body in BODIES:
        for at in places(body):
            for raw in (*RAW, *TEXTS):
                answer = await people.client.request(method, path, content=put(body, at, raw), headers=headers)
                if answer.status_code >= 500:
                    failed.append((path, at, raw[:40], answer.status_code, answer.text[:200]))
                elif answer.status_code >= 400 and not answer.json()["detail"]:
                    failed.append((path, at, raw[:40], answer.status_code, "without a message"))
    assert failed == []


async def test_a_hostile_query_parameter_or_path_is_refused(people: Server) -> None:
    description = (await people.client.get("/openapi.json")).json()
    texts = (
        *("NaN", "Infinity", "-0", "1e308", HUGE, "\x00", "%ff", "\ud800", "", "../../etc/passwd", "{", NESTED),
        '{"a":NaN}',
    )
    failed = []
    for template, operations in description["paths"].items():
        if "get" not in operations or template.endswith("/events") or template == "/readyz":
            continue
        named = [one["name"] for one in operations["get"].get("parameters", ()) if one["in"] == "query"]
        path = template.replace("{corpus}", "people").replace("{id}", "x").replace("{page}", "1")
        for text in texts:
            sent = text.encode("utf-8", "surrogatepass")
            for name in named:
                quoted = "".join(f"%{byte:02x}" for byte in sent[:9000])
                answer = await people.client.get(f"{path}?{name}={quoted}")
                if answer.status_code >= 500:
                    failed.append((path, name, text[:20], answer.text[:200]))
            short = "".join(f"%{byte:02x}" for byte in sent[:300]) or "%20"
            address = template.replace("{corpus}", "people").replace("{id}", short).replace("{page}", short)
            answer = await people.client.get(address)
            if answer.status_code >= 500:
                failed.append((template, "path", text[:20], answer.text[:200]))
    assert failed == []


async def test_a_wrong_method_is_told_all_that_the_path_has(people: Server) -> None:
    for path, allowed in (
        ("", "GET, POST"),
        ("/people", "DELETE, GET, PATCH"),
        ("/people/documents", "GET, POST"),
        ("/people/documents/x", "DELETE, GET, PATCH"),
        ("/people/documents/delete", "POST"),
    ):
        answer = await people.client.put(f"/v1/corpora{path}")
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed), path


async def test_searches_that_their_clients_abandon_leave_the_server_answering(people: Server) -> None:
    searched = {"query": ADA["text"][:40], "searcher": "graph:damping=0.99,epsilon=0.00000001", "explain": True}
    body = json.dumps(searched).encode()
    head = (
        f"POST {CORPUS}/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    async with listening(people) as address:
        host, _, port = address.removeprefix("http://").partition(":")
        before = len(asyncio.all_tasks())
        for _ in range(200):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(head + body)
            await writer.drain()
            writer.transport.abort()
        answer = await people.client.post(f"{CORPUS}/search", json={"query": "Who wrote the first program?"})
        assert answer.status_code == 200
        async with asyncio.timeout(300):
            while len(asyncio.all_tasks()) > before + 5:  # noqa: ASYNC110 - the tasks are the server's
                await asyncio.sleep(0.05)


_SEVERAL_TYPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/chat/completions", {"model": "people", "messages": [], "stop": ["a", "b", "c", "d", "e"]}),
    ("/api/chat", {"model": "people", "messages": [], "options": {"stop": ""}}),
    ("/v1/embeddings", {"model": "twin", "input": []}),
    ("/v1/corpora/people/search", {"query": "a", "min_generation": {"people": -1}}),
)


async def test_a_refused_value_is_named_in_part_and_without_the_insides_of_the_server(people: Server) -> None:
    for path, body in _SEVERAL_TYPES:
        refused = await people.client.post(path, json=body)
        assert refused.status_code in (400, 422)
        assert not re.search(r"0x[0-9a-f]{6}|function|functools", refused.text), refused.text
    body = {"model": "x" * 100_000, "messages": [{"role": "user", "content": "Who?"}]}
    refused = await people.client.post("/v1/chat/completions", json=body)
    assert (refused.status_code, len(refused.text) < 1_000) == (404, True)

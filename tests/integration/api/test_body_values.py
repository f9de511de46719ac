"""Bodies with many values are refused before they cost time and memory, whoever sends them."""

import json
from collections.abc import AsyncIterator
from typing import Any

from tests.integration.api.conftest import Server

HEADERS = {"content-type": "application/json"}
MANY = 300_000
FEW = 9_000
"""Names: with their values fewer than a question may have."""


def unknown(count: int) -> str:
    return ",".join(f'"a{n}":1' for n in range(count))


async def pieces(body: str) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 50_000):
        yield body[start : start + 50_000].encode()


async def test_unknown_fields_without_number(people: Server) -> None:
    body = f'{{"query":"a",{unknown(MANY)}}}'
    for path in ("/v1/corpora/people/search", "/v1/corpora/people/ask", "/v1/search", "/v1/corpora"):
        for content in (body, pieces(body)):
            answer = await people.client.post(path, content=content, headers=HEADERS)
            assert answer.status_code == 413, answer.text[:200]
            assert len(answer.content) < 1000


def _ones(count: int, value: str = "1") -> str:
    return f"[{','.join([value] * count)}]"


_FAULTS = (
    ("/search", f'{{"query":"a",{unknown(FEW)}}}'),
    ("/search", f'{{"query":"a","searcher_options":{{{unknown(FEW)}}}}}'),
    ("/ask", f'{{"question":"a","options":{{{unknown(FEW)}}}}}'),
    ("/ask", f'{{"question":"a","history":{_ones(FEW, "{}")}}}'),
    ("/chat/completions", f'{{"model":"people","messages":{_ones(FEW)}}}'),
    ("/documents", f'{{"documents":[{{"text":"a",{unknown(MANY)}}}]}}'),
    ("/documents", f'{{"documents":{_ones(1000, "{" + unknown(90) + "}")}}}'),
    ("/documents", f'{{"documents":[{{"text":"a","entities":{_ones(MANY)}}}]}}'),
    ("/documents", f'{{"documents":[{{"text":"a","embedding":{_ones(MANY, "{}")}}}]}}'),
    ("/documents", f'{{"documents":[{{"chunks":{_ones(MANY)}}}]}}'),
    ("/estimates", f'{{"documents":{_ones(MANY)}}}'),
    ("/documents/delete", f'{{"keys":{_ones(MANY)}}}'),
)


async def test_faults_without_number(people: Server) -> None:
    """The first faults are told, and the rest is not looked at or not listed."""
    for path, body in _FAULTS:
        at = "/v1" if path.startswith("/chat") else "/v1/corpora/people"
        answer = await people.client.post(f"{at}{path}", content=body, headers=HEADERS)
        assert answer.status_code in {400, 422}, answer.text[:200]
        assert len(answer.content) < 10_000
        told: dict[str, Any] = answer.json()
        assert len(told.get("errors", ())) <= 20
    many = {"query": "a", **{f"a{n}": 1 for n in range(30)}}
    answer = await people.client.post("/v1/corpora/people/search", json=many)
    told = answer.json()
    assert (answer.status_code, len(told["errors"])) == (422, 20)
    assert told["detail"].startswith("a0: unknown field; a1: unknown field; ")
    assert told["detail"].endswith("; and 25 more, of which the first are in `errors`")


async def test_texts_may_be_long(people: Server) -> None:
    """Commas, quotes and braces in texts are no values."""
    text = 'He said: {"a": [1, 2, 3], "b\\\\": "c"}, and so on. ' * 20_000
    answer = await people.client.post("/v1/corpora/people/estimates", json={"documents": [{"text": text}]})
    assert answer.status_code == 200, answer.text[:200]
    body = {"question": "Who?", "reasoner": "extractive", "history": [{"role": "user", "content": text}]}
    assert (await people.client.post("/v1/corpora/people/ask", json=body)).status_code != 413


async def test_nesting_without_end(people: Server) -> None:
    for opening in ("[", '{"a":'):
        answer = await people.client.post("/v1/corpora/people/search", content=opening * FEW, headers=HEADERS)
        assert answer.status_code == 400, answer.text[:200]
    assert json.loads((await people.client.get("/healthz")).text)

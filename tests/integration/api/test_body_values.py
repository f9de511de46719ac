"""Bodies with many values are refused before they cost time and memory, whoever sends them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

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


@pytest.mark.parametrize("path", ["/v1/corpora/people/search", "/v1/corpora/people/ask", "/v1/search", "/v1/corpora"])
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_unknown_fields_without_number(people: Server, path: str, is_chunked: bool) -> None:
    body = f'{{"query":"a",{unknown(MANY)}}}'
    answer = await people.client.post(path, content=pieces(body) if is_chunked else body, headers=HEADERS)
    assert answer.status_code == 413, answer.text[:200]
    assert len(answer.content) < 1000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/corpora/people/search", f'{{"query":"a",{unknown(FEW)}}}'),
        ("/v1/corpora/people/search", f'{{"query":"a","searcher_options":{{{unknown(FEW)}}}}}'),
        ("/v1/corpora/people/ask", f'{{"question":"a","options":{{{unknown(FEW)}}}}}'),
        ("/v1/corpora/people/ask", f'{{"question":"a","history":[{",".join(["{}"] * FEW)}]}}'),
        ("/v1/chat/completions", f'{{"model":"people","messages":[{",".join(["1"] * FEW)}]}}'),
        ("/v1/corpora/people/documents", f'{{"documents":[{{"text":"a",{unknown(MANY)}}}]}}'),
        ("/v1/corpora/people/documents", f'{{"documents":[{",".join(["{" + unknown(90) + "}"] * 1000)}]}}'),
        ("/v1/corpora/people/documents", f'{{"documents":[{{"text":"a","entities":[{",".join(["1"] * MANY)}]}}]}}'),
        ("/v1/corpora/people/documents", f'{{"documents":[{{"text":"a","embedding":[{",".join(["{}"] * MANY)}]}}]}}'),
        ("/v1/corpora/people/documents", f'{{"documents":[{{"chunks":[{",".join(["1"] * MANY)}]}}]}}'),
        ("/v1/corpora/people/estimates", f'{{"documents":[{",".join(["1"] * MANY)}]}}'),
        ("/v1/corpora/people/documents/delete", f'{{"keys":[{",".join(["1"] * MANY)}]}}'),
    ],
)
async def test_faults_without_number(people: Server, path: str, body: str) -> None:
    """The first faults are told, and the rest is not looked at or not listed."""
    answer = await people.client.post(path, content=body, headers=HEADERS)
    assert answer.status_code in {400, 422}, answer.text[:200]
    assert len(answer.content) < 10_000
    told: dict[str, Any] = answer.json()
    assert len(told.get("errors", ())) <= 20


async def test_the_text_says_that_there_are_more(people: Server) -> None:
    answer = await people.client.post(
        "/v1/corpora/people/search", json={"query": "a", **{f"a{n}": 1 for n in range(30)}}
    )
    assert answer.status_code == 422
    told = answer.json()
    assert len(told["errors"]) == 20
    assert told["detail"].startswith("a0: unknown field; a1: unknown field; ")
    assert told["detail"].endswith("; and 25 more, of which the first are in `errors`")


async def test_texts_may_be_long(people: Server) -> None:
    """Commas, quotes and braces in texts are no values."""
    text = 'He said: {"a": [1, 2, 3], "b\\\\": "c"}, and so on. ' * 20_000
    answer = await people.client.post("/v1/corpora/people/estimates", json={"documents": [{"text": text}]})
    assert answer.status_code == 200, answer.text[:200]
    answer = await people.client.post(
        "/v1/corpora/people/ask",
        json={"question": "Who?", "reasoner": "extractive", "history": [{"role": "user", "content": text}]},
    )
    assert answer.status_code != 413


async def test_nesting_without_end(people: Server) -> None:
    for opening in ("[", '{"a":'):
        answer = await people.client.post("/v1/corpora/people/search", content=opening * FEW, headers=HEADERS)
        assert answer.status_code == 400, answer.text[:200]
    assert json.loads((await people.client.get("/healthz")).text)

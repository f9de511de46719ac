"""No response and no log has a stack trace, a path of this machine, a key, or a text of a document or a question."""

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.container import RestrictedContainer
from core.keys import Scope
from core.telemetry.logs import FIELDS
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import BASE, Server

_QUESTION = "Whose pelican is violet?"
_TRAVERSALS = ["..%2f..%2fetc%2fpasswd", "%2e%2e%2f", "..%5c..", "%00", "a%0d%0aSet-Cookie:%20x=1", "%c0%ae", "~"]


def _check(text: str, *secrets: str) -> None:
    for secret in ("Traceback", 'File "', "site-packages", "root:x:", *secrets):
        assert secret not in text, secret


async def test_each_kind_of_error(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "hopweave")
    holder = await keys.make(Scope.READ, Scope.WRITE, Scope.ADMIN)
    key = holder.client.headers["authorization"].removeprefix("Bearer ")
    base = "/v1/corpora/people"
    answers = [
        await holder("GET", "/nowhere"),
        await holder("PUT", base),
        await holder("GET", "/v1/corpora/none"),
        await holder("POST", f"{base}/search", json={"query": ""}),
        await holder("POST", f"{base}/search", content=b"{", headers={"content-type": "application/json"}),
        await holder("POST", f"{base}/search", content=b"x", headers={"content-type": "text/plain"}),
        await holder("POST", f"{base}/search", json={"query": _QUESTION, "searcher": "bridged:ranker=/etc/passwd"}),
        await holder("POST", f"{base}/ask", json={"question": _QUESTION, "reasoner": "par"}),
        await holder("POST", f"{base}/documents", json={"documents": [{"text": _QUESTION, "media_type": "x/y"}]}),
        await holder("GET", f"{base}/documents?cursor=x"),
        await holder("POST", "/v1/corpora", json={"name": "people"}),
        await holder("GET", "/v1/jobs", headers={"authorization": f"Bearer {key}x"}),
        await _fail(holder, monkeypatch, ValueError(f"{_QUESTION} {key} {tmp_path}")),
        await _fail(holder, monkeypatch, OSError(2, "no such file", str(tmp_path / "record.db"))),
    ]
    assert {answer.status_code for answer in answers} >= {400, 401, 404, 405, 409, 415, 422, 500}
    for answer in answers:
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        _check(answer.text + str(answer.headers), key, str(tmp_path), _QUESTION)
    logged = "\n".join(
        f"{logging.Formatter().format(record)} {getattr(record, FIELDS, '')}" for record in caplog.records
    )
    assert "ValueError in" in logged
    _check(logged, key, str(tmp_path), _QUESTION)


async def _fail(holder: Any, monkeypatch: pytest.MonkeyPatch, error: Exception) -> httpx.Response:
    def broken(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(RestrictedContainer, "check_embedding", broken)
        answer: httpx.Response = await holder("POST", "/v1/corpora/people/search", json={"query": _QUESTION})
    assert answer.status_code == 500
    return answer


async def test_an_error_in_a_stream(
    keys: Keys, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    holder = await keys.make(Scope.READ)

    async def broken(*_: object) -> None:
        raise ValueError(_QUESTION)

    monkeypatch.setattr(type(keys.server.container.record.contents), "get_chunks", broken)
    answer = await holder("POST", "/v1/corpora/people/ask", json={"question": _QUESTION, "stream": True})
    assert "the server failed" in answer.text
    logged = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    _check(answer.text + logged, _QUESTION)


async def test_no_path_parameter_leads_out(people: Server) -> None:
    described = people.app.openapi()["paths"]
    templates = [path for path, methods in described.items() if "get" in methods and "{" in path]
    assert len(templates) >= 15
    for template in templates:
        for name in ("{corpus}", "{id}", "{page}"):
            for value in _TRAVERSALS if name in template else ():
                path = template.replace(name, value)
                for other, known in (("{corpus}", "people"), ("{id}", "0"), ("{page}", "1")):
                    path = path.replace(other, known)
                answer = await people.client.get(path, params={"to": "0"} if path.endswith("/ways") else {})
                assert answer.status_code in (200, 307, 400, 404, 405, 422), (path, answer.text)
                assert answer.headers.get("location", BASE).startswith(BASE), "a slash more or less leads nowhere else"
                _check(answer.text)
                assert "set-cookie" not in answer.headers
                if answer.status_code == 200:  # a slash made it another path, such as a list
                    assert json.loads(answer.text).keys() >= {"data"} or template.endswith("/export")


_NO_JSON = (
    b"[" * 100_000,
    b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"query": "a", "filter": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001,
    b'{"query": "\xff\xfe"}',
    *(b"\xff", b'{"query": "a"', b"", b"null"),
    b'{"query": "a", "k": ' + b"9" * 5_000 + b"}",
)


async def test_bodies_that_are_no_sound_json(people: Server) -> None:
    for body in _NO_JSON:
        headers = {"content-type": "application/json"}
        answer = await people.client.post("/v1/corpora/people/search", content=body, headers=headers)
        assert answer.status_code in (400, 413, 422), (body[:30], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.text) < 2_000
        _check(answer.text)


async def test_a_key_of_a_document_makes_no_header(people: Server) -> None:
    for key in ("a\r\nSet-Cookie: x=1", 'a"; filename="b', "ж.txt", "a;b=c"):
        sent = await people.add({"key": key, "text": "Some text."})
        assert (sent.status_code == 422) == ("\r" in key)
        if sent.status_code == 422:
            continue
        await people.work("people")
        id = sent.json()["documents"][0]["id"]
        disposition = (await people.client.get(f"/v1/corpora/people/documents/{id}/content")).headers
        assert "set-cookie" not in disposition
        assert disposition["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert '"' not in disposition["content-disposition"]

"""A cursor that somebody has made by hand leads to a page or a refusal: its check has no secret."""

import base64
import json

import pytest

from api import cursors
from tests.integration.api.conftest import Server

LISTS = (
    "/v1/corpora",
    "/v1/corpora/people/documents",
    "/v1/corpora/people/documents?state=indexed",
    "/v1/corpora/people/documents?key=a*",
    '/v1/corpora/people/documents?filter={"year":1843}',
    "/v1/corpora/people/documents/{document}/chunks",
    "/v1/corpora/people/merges",
    "/v1/jobs",
    "/v1/jobs?corpus=people",
    "/v1/corpora/people/questions",
    "/v1/corpora/people/certificates",
)
PLACES = (
    *("", "x", "\0", "-1", "1.5", "²", "9" * 30, "9" * 5000, "0" * 32, "[]", "{}", "null", "[1,2]", '["a","b"]'),
    *('["2024-01-01T00:00:00+00:00","x"]', "2024-01-01T00:00:00Z", "a/b", "a\x1fb", "\U0001f600", "' OR 1=1 --"),
    *("9999-99-99|" + "f" * 32, "f" * 32 + ":" + "f" * 32, "1,2", "~" * 1000, "indexed:1:2", "\ud800"),
)


async def test_no_place_is_an_error_of_the_server(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursors, "_check", lambda *_: "forged")
    document = (await people.client.get("/v1/corpora/people/documents")).json()["data"][0]["id"]
    for address in (path.replace("{document}", document) for path in LISTS):
        for place in PLACES:
            forged = base64.urlsafe_b64encode(json.dumps([place, "forged"]).encode()).decode().rstrip("=")
            answer = await people.client.get(address + ("&" if "?" in address else "?") + f"cursor={forged}")
            assert answer.status_code in {200, 404, 422}, (address, place[:40], answer.status_code, answer.text[:200])

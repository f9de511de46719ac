"""Requests with an `Idempotency-Key`: carried out once, however often they are sent."""

import asyncio

import pytest

from api import deps
from tests.integration.api.conftest import ADA, BABBAGE, Server

_DOCUMENTS = "/v1/corpora/people/documents"
_KEY = {"Idempotency-Key": "one"}


async def test_a_request_that_is_sent_again_gets_the_first_response(server: Server) -> None:
    await server.corpus()
    body = {"documents": [ADA]}
    first = await server.client.post(_DOCUMENTS, json=body, headers=_KEY)
    await server.work("people")
    again = await server.client.post(_DOCUMENTS, json=body, headers=_KEY)
    assert (again.status_code, again.content) == (202, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert len((await server.client.get("/v1/jobs")).json()["data"]) == 1
    other = await server.client.post(_DOCUMENTS, json={"documents": [BABBAGE]}, headers=_KEY)
    assert (other.status_code, "used for another request" in other.text) == (422, True)
    await server.corpus("other")
    elsewhere = await server.client.post("/v1/corpora/other/documents", json=body, headers=_KEY)
    assert elsewhere.status_code == 422
    for wrong in ("", "x" * 256, "two words"):
        assert (await server.client.post(_DOCUMENTS, json=body, headers={"Idempotency-Key": wrong})).status_code == 422


async def test_uploads(server: Server) -> None:
    await server.corpus()
    file = {"file": ("a.txt", b"Ada.")}
    first = await server.client.post(_DOCUMENTS, files=file, headers=_KEY)
    again = await server.client.post(_DOCUMENTS, files=file, headers=_KEY)
    assert (again.status_code, again.json()) == (202, first.json()), "with another boundary"
    for other in ({"file": ("a.txt", b"Bob.")}, {"file": ("b.txt", b"Ada.")}):
        assert (await server.client.post(_DOCUMENTS, files=other, headers=_KEY)).status_code == 422


async def test_a_request_that_failed_can_be_sent_again(server: Server) -> None:
    await server.corpus()
    await server.add(ADA)
    body = {"documents": [{**ADA, "text": "Another."}], "on_conflict": "error"}
    assert (await server.client.post(_DOCUMENTS, json=body, headers=_KEY)).status_code == 409
    body["on_conflict"] = "replace"
    assert (await server.client.post(_DOCUMENTS, json=body, headers=_KEY)).status_code == 202


async def test_two_at_once_make_one_job(server: Server) -> None:
    await server.corpus()
    answers = await asyncio.gather(
        *(server.client.post(_DOCUMENTS, json={"documents": [ADA]}, headers=_KEY) for _ in range(4))
    )
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len({answer.json()["job"]["id"] for answer in answers if answer.status_code == 202}) == 1
    assert len((await server.client.get("/v1/jobs")).json()["data"]) == 1


async def test_a_key_of_a_process_that_died_is_free_after_a_while(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.corpus()
    body = {"documents": [ADA]}
    with monkeypatch.context() as patched:
        patched.setattr(server.container.record.receipts, "finish", _die)
        patched.setattr(server.container.record.receipts, "release", _die)
        assert (await server.client.post(_DOCUMENTS, json=body, headers=_KEY)).status_code == 500
    assert (await server.client.post(_DOCUMENTS, json=body, headers=_KEY)).status_code == 409
    monkeypatch.setattr(deps, "_LEASE_SECONDS", 0.0)
    await asyncio.sleep(0.01)
    assert (await server.client.post(_DOCUMENTS, json=body, headers=_KEY)).status_code == 202


async def _die(*_: object) -> None:
    raise RuntimeError("the process was killed")


async def test_corpora_are_created_and_reindexed_once(server: Server) -> None:
    first = await server.client.post("/v1/corpora", json={"name": "people"}, headers=_KEY)
    again = await server.client.post("/v1/corpora", json={"name": "people"}, headers=_KEY)
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert again.headers["location"] == first.headers["location"] == "/v1/corpora/people"
    assert again.headers["idempotent-replayed"] == "true"
    assert (await server.client.post("/v1/corpora", json={"name": "people"})).status_code == 409
    assert (await server.client.post("/v1/corpora", json={"name": "others"}, headers=_KEY)).status_code == 422
    two = {"Idempotency-Key": "two"}
    reindex = [await server.client.post("/v1/corpora/people/reindex", json={}, headers=two) for _ in range(2)]
    assert [one.status_code for one in reindex] == [202, 202]
    assert reindex[0].json() == reindex[1].json()
    assert (await server.client.post("/v1/corpora/people/reindex", json={})).status_code == 409


async def test_deletions_and_retries_are_carried_out_once(server: Server) -> None:
    await server.corpus()
    await server.ingest(ADA)
    body = {"keys": ["ada", "gone"]}
    first, again = [await server.client.post(f"{_DOCUMENTS}/delete", json=body, headers=_KEY) for _ in range(2)]
    assert (again.status_code, again.json()) == (202, first.json())
    assert first.json()["missing"] == ["gone"]
    added = (await server.add(BABBAGE)).json()
    await server.client.post(f"/v1/jobs/{added['job']['id']}/cancel")
    at = f"{_DOCUMENTS}/{added['documents'][0]['id']}/retry"
    two = {"Idempotency-Key": "two"}
    first, again = [await server.client.post(at, headers=two) for _ in range(2)]
    assert (first.status_code, again.json()) == (202, first.json())
    assert (await server.client.post(at)).status_code == 409

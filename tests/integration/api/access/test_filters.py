"""What a key may not see is not there, on every route."""

import json
from typing import Any

import httpx
import pytest

from app.access.access import NO_METER, Access
from app.access.container import RestrictedContainer
from core.errors import Forbidden
from core.filters import parse_filter
from core.ids import document_id
from core.keys import KeyLimits, Scope
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, OPEN_DOCUMENT, SECRETS, Holder, Keys
from tests.integration.api.conftest import want_each_change

_ALL = (Scope.READ, Scope.WRITE, Scope.EXPORT)
_OPEN = {"team": "open"}
_HIDDEN_ID = document_id(str(HIDDEN_DOCUMENT["key"]))
_OPEN_ID = document_id(str(OPEN_DOCUMENT["key"]))
_QUERY = "Zarathustra Xylophone Quixotic Ledger"
_BODIES: dict[str, Any] = {
    "/search": {"query": _QUERY, "k": 50, "explain": True, "context": 2},
    "/ask": {"question": f"Who is {_QUERY}?", "k": 50},
    "/entities/{id}/merge": {"into": "0"},
    "/documents/delete": {"keys": [HIDDEN_DOCUMENT["key"]]},
    "/documents/{id}": {"title": "Taken"},
}
"""Bodies that ask for what is hidden, by the end of the path; other routes get an empty object."""


def _told(answer: httpx.Response, *given: str) -> list[str]:
    """The secrets in a response that its request did not tell."""
    text = answer.text.lower()
    return [word for word in SECRETS if word in text and not any(word in one.lower() for one in given)]


async def _find_ids(keys: Keys) -> dict[str, list[str]]:
    """Ids of hidden things, by the folder of the path that takes them."""
    client = keys.server.client
    base = "/v1/corpora/people"
    chunks = (await client.get(f"{base}/documents/{_HIDDEN_ID}/chunks")).json()["data"]
    entities = (await client.get(f"{base}/entities?query=Ledger")).json()["data"]
    merges = (await client.get(f"{base}/merges")).json()["data"]
    jobs = (await client.get("/v1/jobs")).json()["data"]
    assert chunks
    assert entities
    assert merges
    return {
        "documents": [_HIDDEN_ID],
        "chunks": [chunk["id"] for chunk in chunks],
        "entities": [entities[0]["entity"]["id"]],
        "merges": [merge["id"] for merge in merges],
        "jobs": [job["id"] for job in jobs],
    }


async def _walk(keys: Keys, holder: Holder, ids: dict[str, list[str]], corpus: str) -> list[tuple[str, httpx.Response]]:
    """Calls every operation with ids of hidden things; deletions last."""
    calls = []
    described = keys.server.app.openapi()["paths"]
    order = {"get": 0, "post": 1, "put": 1, "patch": 2, "delete": 3}
    operations = sorted(
        ((method, path, one) for path, methods in described.items() for method, one in methods.items()),
        key=lambda one: order[one[0]],
    )
    for method, path, operation in operations:
        folder = path.partition("/{id}")[0].rpartition("/")[2]
        for id in ids.get(folder, ["0"]) if "{id}" in path else [""]:
            address = path.replace("{corpus}", corpus).replace("{id}", id).replace("{page}", "1")
            more: dict[str, Any] = {}
            if "requestBody" in operation:
                more["json"] = next((body for end, body in _BODIES.items() if path.endswith(end)), {})
            if path.endswith("/ways"):
                more["params"] = {"to": "0"}
            if path.endswith("/entities"):
                more["params"] = {"query": ""}
            answer = await holder(method.upper(), address, **more)
            assert answer.status_code < 500, (method, address, answer.text)
            echoes = answer.status_code >= 400 or path.endswith(("/delete", "/ask"))
            told = _told(answer, json.dumps(more) + address if echoes else "")
            assert told == [], (method, address, answer.text)
            calls.append((f"{method} {path}", answer))
    return calls


async def test_the_filter_of_a_key_holds_on_every_route(keys: Keys) -> None:
    ids = await _find_ids(keys)
    holder = await keys.make(*_ALL, corpora=["people"], where=_OPEN)
    calls = dict(await _walk(keys, holder, ids, "people"))
    for call in (
        "get /v1/corpora/{corpus}/documents/{id}",
        "get /v1/corpora/{corpus}/documents/{id}/content",
        "get /v1/corpora/{corpus}/documents/{id}/pages/{page}",
        "get /v1/corpora/{corpus}/documents/{id}/chunks",
        "get /v1/corpora/{corpus}/chunks/{id}",
        "get /v1/corpora/{corpus}/entities/{id}",
        "get /v1/corpora/{corpus}/entities/{id}/neighbourhood",
        "get /v1/corpora/{corpus}/entities/{id}/ways",
        "patch /v1/corpora/{corpus}/documents/{id}",
        "delete /v1/corpora/{corpus}/documents/{id}",
        "post /v1/corpora/{corpus}/documents/{id}/retry",
    ):
        assert calls[call].status_code == 404, call
    assert calls["get /v1/corpora/{corpus}/merges"].json()["data"] == []
    for call in ("post /v1/corpora/{corpus}/entities/{id}/merge", "post /v1/corpora/{corpus}/merges/{id}/undo"):
        assert calls[call].status_code == 403, call
    assert calls["get /v1/corpora/{corpus}"].json()["counts"] is None
    assert calls["post /v1/corpora/{corpus}/documents/delete"].json()["missing"] == [HIDDEN_DOCUMENT["key"]]
    assert [hit["document"]["key"] for hit in calls["post /v1/corpora/{corpus}/search"].json()["hits"]] == ["open/ada"]
    assert (await keys.server.client.get("/healthz")).status_code == 200
    all_there = await keys.make(Scope.READ)
    assert (await all_there("GET", f"/v1/corpora/people/documents/{_HIDDEN_ID}")).json()["title"] != "Taken"


async def test_a_request_cannot_widen_the_filter_of_its_key(keys: Keys) -> None:
    holder = await keys.make(*_ALL, where=_OPEN)
    base = "/v1/corpora/people"
    for where in ({"team": "hidden"}, {"$or": [{"team": "hidden"}, {"team": "open"}]}, {"$not": {"team": "open"}}):
        found = (await holder("POST", f"{base}/search", json={"query": _QUERY, "filter": where})).json()["hits"]
        assert {hit["document"]["key"] for hit in found} <= {"open/ada"}
        listed = await holder("GET", f"{base}/documents", params={"filter": json.dumps(where)})
        assert {one["key"] for one in listed.json()["data"]} <= {"open/ada"}
        deleted = await holder("POST", f"{base}/documents/delete", json={"filter": {"team": "hidden"}})
        assert deleted.status_code == 202
    everything = await keys.make(Scope.READ)
    assert len((await everything("GET", f"{base}/documents")).json()["data"]) == 3


async def test_an_export_has_only_what_the_key_may_see(keys: Keys) -> None:
    holder = await keys.make(Scope.EXPORT, where=_OPEN)
    for format in ("jsonl", "graphml", "csv"):
        for canonical in ("true", "false"):
            parameters = {"format": format, "canonical": canonical}
            answer = await holder("GET", "/v1/corpora/people/export", params=parameters)
            assert answer.status_code == 200, parameters
            assert "Ada Lovelace" in answer.text
            assert _told(answer) == []


async def test_a_key_writes_nothing_outside_its_filter(keys: Keys) -> None:
    holder = await keys.make(*_ALL, where=_OPEN)
    base = "/v1/corpora/people/documents"

    async def add(**document: Any) -> httpx.Response:
        return await holder("POST", base, json={"documents": [{"text": "Some text.", **document}]})

    assert (await add(key="open/new", metadata=_OPEN)).status_code == 202
    outside = await add(key="open/other", metadata={"team": "hidden"})
    replacing = await add(key=HIDDEN_DOCUMENT["key"], metadata=_OPEN)
    unfinished = await add(key="hidden/broken", metadata=_OPEN)
    for answer in (outside, replacing, unfinished, await add(key="open/none")):
        assert answer.status_code == 403
        assert "its filter does not match" in answer.json()["detail"]
    moved = await holder("PATCH", f"{base}/{_OPEN_ID}", json={"metadata": {"team": "hidden"}})
    assert moved.status_code == 403
    assert (await holder("PATCH", f"{base}/{_OPEN_ID}", json={"title": "Ada"})).status_code == 202
    uploaded = await holder("POST", base, files={"file": ("new.txt", b"Some text.", "text/plain")})
    assert uploaded.status_code == 403


async def test_no_route_can_count_what_a_key_may_not_see(keys: Keys) -> None:
    """Routes ask beforehand whether the caller sees all documents; one that forgets it is refused by the record."""
    whole = keys.server.container
    corpus = await whole.record.corpora.get("people")
    for where, message in (None, ""), (parse_filter(_OPEN), "this key has a filter"):
        access = Access(scopes=frozenset(_ALL), key="k", filter=where)
        counting = RestrictedContainer(whole, access, NO_METER).record.corpora.count(corpus.id)
        if message:
            with pytest.raises(Forbidden, match=message):
                await counting
        else:
            assert (await counting).documents == 2


async def test_a_failed_submission_of_another_key_is_not_retried(keys: Keys) -> None:
    """The document is there as it was before, and what failed does not match."""
    holder = await keys.make(*_ALL, where=_OPEN)
    broken = {"key": OPEN_DOCUMENT["key"], "media_type": "application/pdf", "text": "no PDF"}
    for metadata, status in ({"team": "hidden"}, 403), (_OPEN, 202):
        everything = await keys.make(*_ALL)
        sent = {"documents": [{**broken, "text": f"no PDF, {status}", "metadata": metadata}]}
        assert (await everything("POST", "/v1/corpora/people/documents", json=sent)).status_code == 202
        await keys.server.work("people")
        path = f"/v1/corpora/people/documents/{_OPEN_ID}"
        assert (await holder("GET", path)).json()["state"] == "failed"
        assert (await holder("POST", f"{path}/retry")).status_code == status


async def test_nothing_is_kept_of_what_a_key_may_not_submit(keys: Keys) -> None:
    filtered = await keys.make(*_ALL, where=_OPEN)
    limited = await keys.make(*_ALL, limits=KeyLimits(ingest_bytes=10))
    corpus, files = await keys.server.container.record.corpora.get("people"), keys.server.container.files
    before = await files.names(corpus.id)
    for holder, status in ((filtered, 403), (limited, 413)):
        body = {"documents": [{"key": f"new/{status}", "text": f"Some text that is a {status}."}]}
        assert (await holder("POST", "/v1/corpora/people/documents", json=body)).status_code == status
        file = ("a.txt", f"Another text that is a {status}.")
        uploaded = await holder("POST", "/v1/corpora/people/documents", files={"file": file})
        assert uploaded.status_code == status
    await keys.server.work("people")
    assert await files.names(corpus.id) == before


async def test_a_corpus_that_a_key_may_not_see_is_a_404_everywhere(keys: Keys) -> None:
    ids = await _find_ids(keys)
    holder = await keys.make(*_ALL, corpora=["other"])
    for call, answer in await _walk(keys, holder, ids, "clandestine"):
        if "{corpus}" in call or "/jobs/{id}" in call:
            if call.endswith("/import"):
                continue  # its content type is refused before
            assert answer.status_code in (404, 403), call
            assert answer.status_code == 404 or "scope admin" in answer.text, call
    assert (await holder("GET", "/v1/corpora")).json()["data"] == []
    assert (await holder("GET", "/v1/jobs")).json()["data"] == []
    same = {"headers": {"X-Request-ID": "the-same-request"}}
    unknown = await holder("GET", "/v1/corpora/unknown", **same)
    hidden = await holder("GET", "/v1/corpora/people", **same)
    assert unknown.text.replace("unknown", "people") == hidden.text


async def test_an_admin_of_some_corpora_makes_no_others(keys: Keys) -> None:
    holder = await keys.make(Scope.ADMIN, corpora=["mine", "people"])
    assert (await holder("POST", "/v1/corpora", json={"name": "mine"})).status_code == 201
    for name in ("clandestine", "new"):
        assert (await holder("POST", "/v1/corpora", json={"name": name})).status_code == 403
        assert (await holder("PATCH", "/v1/corpora/mine", json={"name": name})).status_code == 403
    assert (await holder("DELETE", "/v1/corpora/clandestine")).status_code == 404
    headers = {"content-type": "application/x-ndjson"}
    exported = (await holder("GET", "/v1/corpora/people/export")).content
    imported = await holder("POST", "/v1/corpora/clandestine/import", content=exported, headers=headers)
    assert imported.status_code in (403, 404)


_NAMED = [
    {**OPEN_DOCUMENT, "key": "open/grace", "title": "Grace", "entities": ["Grace Hopper"], "triples": []},
    {**HIDDEN_DOCUMENT, "key": "hidden/admiral", "title": "Admiral", "entities": ["Xylophone Grace"], "triples": []},
]


async def test_merges_with_names_of_other_documents_do_not_count(keys: Keys) -> None:
    """Neither the name of a merged entity is told, nor found by, nor that of the entity that it is merged into."""
    base, client = "/v1/corpora/people/entities", keys.server.client
    want_each_change(keys.server)
    await keys.server.ingest(*({**one, "text": f"{one['entities'][0]} was there."} for one in _NAMED))

    async def find(name: str) -> str:
        return str((await client.get(base, params={"query": name})).json()["data"][0]["entity"]["id"])

    hidden, ada = await find("Quixotic Ledger"), await find("Ada Lovelace")
    grace, admiral = await find("Grace Hopper"), await find("Xylophone Grace")
    await client.post(f"{base}/{hidden}/merge", json={"into": ada})
    await client.post(f"{base}/{grace}/merge", json={"into": admiral})
    assert len((await client.get(f"{base}/{ada}")).json()["merged"]) == 2
    holder = await keys.make(*_ALL, where=_OPEN)
    listed = await holder("GET", base)
    assert {one["entity"]["name"] for one in listed.json()["data"]} >= {"Ada Lovelace", "Grace Hopper"}
    assert _told(listed) == []
    assert (await holder("GET", "/v1/corpora/people/merges")).json()["data"] == []
    for name in ("Quixotic Ledger", "Xylophone"):
        assert (await holder("GET", base, params={"query": name})).json()["data"] == []
    for id in (hidden, admiral):
        assert (await holder("GET", f"{base}/{id}")).status_code == 404
    for id in (ada, grace):
        for call in ("", "/neighbourhood", f"/ways?to={ada if id == grace else grace}"):
            answer = await holder("GET", f"{base}/{id}{call}")
            assert (answer.status_code, _told(answer)) == (200, [])
    for searcher in ("bridged", "graph", "fine"):
        body = {"query": "Xylophone Grace and the Quixotic Ledger", "searcher": searcher, "explain": "features"}
        found = await holder("POST", "/v1/corpora/people/search", json=body)
        assert (found.status_code, _told(found)) == (200, [])
        assert all(not hit["signals"]["graph"] for hit in found.json()["hits"])


async def test_merges_of_names_that_the_key_may_see_count(keys: Keys) -> None:
    base, client = "/v1/corpora/people/entities", keys.server.client
    want_each_change(keys.server)
    listed = (await client.get(base)).json()["data"]
    ids = {one["entity"]["name"]: one["entity"]["id"] for one in listed}
    merged = {"into": ids["Ada Lovelace"]}
    assert (await client.post(f"{base}/{ids['Charles Babbage']}/merge", json=merged)).status_code == 200
    holder = await keys.make(*_ALL, where=_OPEN)
    (shown,) = (await holder("GET", "/v1/corpora/people/merges")).json()["data"]
    assert shown["entity"]["name"] == "Charles Babbage"
    found = (await holder("GET", base, params={"query": "Charles Babbage"})).json()["data"]
    assert [one["entity"]["name"] for one in found] == ["Ada Lovelace"]

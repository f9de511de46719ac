"""How documents get their access: at ingest, with their mail, by changes, in every process; and what it costs."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.ids import document_id
from core.keys import Scope
from core.ports.embedding import Vectors
from tests.integration.api.access.conftest import Holder, Keys
from tests.integration.api.conftest import MakeServer, Server
from tests.integration.api.test_attachments import make_mail
from tests.twins.embedder import TwinEmbedder

_DOCUMENTS = "/v1/corpora/people/documents"
_TEXT = "Ada Lovelace wrote the first program."
_ALL = (Scope.READ, Scope.WRITE, Scope.EXPORT)
_WAIT = 120.0
"""Seconds; a busy machine starts a process slowly."""


class _Counting(TwinEmbedder):
    calls = 0

    async def embed_passages(self, texts: Any) -> Vectors:
        self.calls += 1
        return await super().embed_passages(texts)


async def _access(client: httpx.AsyncClient | Holder) -> dict[str, Any]:
    get = client.get if isinstance(client, httpx.AsyncClient) else client.client.get
    return {one["key"]: one["access"] for one in (await get(_DOCUMENTS)).json()["data"]}


async def test_every_way_in_names_an_access(server: Server) -> None:
    await server.corpus()
    given = {"access": ["user:anna", "group:legal", "group:legal"]}
    documents = [
        {"key": "json", "text": _TEXT, **given},
        {"key": "loaded", "text": _TEXT, "media_type": "text/markdown", **given},
        {"key": "nobody", "text": _TEXT, "access": []},
        {"key": "everyone", "text": _TEXT},
        {"key": "null", "text": _TEXT, "access": None},
    ]
    await server.ingest(*documents)
    lines = "\n".join(json.dumps({"key": f"line{n}", "text": _TEXT, "access": [f"group:{n}"]}) for n in range(2))
    files = [
        ("file", ("a.txt", _TEXT)),
        ("file", ("b.json", json.dumps({"text": _TEXT, "access": ["group:own"]}))),
        ("file", ("c.json", json.dumps({"text": _TEXT, "access": ["group:own"]}))),
        ("file", ("d.jsonl", lines)),
    ]
    manifest = {"a.txt": given, "c.json": given}
    uploaded = await server.client.post(_DOCUMENTS, files=files, data={"manifest": json.dumps(manifest)})
    assert uploaded.status_code == 202, uploaded.text
    await server.work("people")
    both = ["group:legal", "user:anna"]
    assert await _access(server.client) == {
        "json": both,
        "loaded": both,
        "nobody": [],
        "everyone": None,
        "null": None,
        "a.txt": both,
        "b.json": ["group:own"],
        "c.json": both,
        "line0": ["group:0"],
        "line1": ["group:1"],
    }
    (again,) = (await server.ingest({"key": "json", "text": _TEXT, "access": ["user:bob"]}))["documents"]
    assert again["unchanged"]
    assert (await _access(server.client))["json"] == ["user:bob"]


async def test_what_is_no_access_is_refused(server: Server) -> None:
    await server.corpus()
    await server.ingest({"key": "a", "text": _TEXT, "access": ["group:a"]})
    texts = (
        "legal",
        "group:",
        "team:legal",
        "group: x",
        "group:x ",
        "group:a\nb",
        "group:" + "x" * 251,
        "group:\ud800",
    )
    lists = [*([text] for text in texts), [1], [f"user:{n}" for n in range(201)]]
    headers = {"content-type": "application/json"}
    for wrong in (*lists, "group:legal", {"group": "x"}):
        line = json.dumps({"key": "b", "text": _TEXT, "access": wrong})
        requests: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("POST", "", {"content": f'{{"documents": [{line}]}}', "headers": headers}),
            ("POST", "", {"files": {"file": ("b.jsonl", line)}}),
            ("PATCH", f"/{document_id('a')}", {"content": json.dumps({"access": wrong}), "headers": headers}),
        )
        for method, path, more in requests:
            answer = await server.client.request(method, f"{_DOCUMENTS}{path}", **more)
            assert answer.status_code == 422, (wrong, more)
    assert await _access(server.client) == {"a": ["group:a"]}


async def test_access_is_changed_by_id_key_and_filter_without_embedding(make_server: MakeServer) -> None:
    embedder = _Counting()
    server = await make_server(embedder=embedder)
    await server.corpus()
    await server.ingest(*({"key": key, "text": f"{_TEXT} {key}", "metadata": {"of": key}} for key in "abc"))
    calls = embedder.calls
    generation = (await server.client.get("/v1/corpora/people")).json()["generation"]
    changed = await server.client.patch(f"{_DOCUMENTS}/{document_id('a')}", json={"access": ["group:a"]})
    assert (changed.status_code, changed.json()["documents"][0]["unchanged"]) == (202, True)
    body = {"keys": ["b", "none"], "access": ["group:b"]}
    assert (await server.client.post(f"{_DOCUMENTS}/access", json=body)).json() == {"documents": 1, "missing": ["none"]}
    body = {"filter": {"of": "c"}, "access": []}
    assert (await server.client.post(f"{_DOCUMENTS}/access", json=body)).json() == {"documents": 1, "missing": []}
    assert await _access(server.client) == {"a": ["group:a"], "b": ["group:b"], "c": []}
    both = {"title": "Renamed", "access": None, "enabled": False}
    assert (await server.client.patch(f"{_DOCUMENTS}/{document_id('a')}", json=both)).status_code == 202
    assert await _access(server.client) == {"a": None, "b": ["group:b"], "c": []}, "at once, before it is indexed"
    for wrong in ({"filter": {}, "access": []}, {"keys": ["a"]}, {"access": None}, {"keys": [], "access": None}):
        assert (await server.client.post(f"{_DOCUMENTS}/access", json=wrong)).status_code == 422, wrong
    assert embedder.calls == calls
    assert (await server.client.get("/v1/corpora/people")).json()["generation"] > generation
    await server.work("people")
    assert (await server.client.get(f"{_DOCUMENTS}/{document_id('a')}")).json()["title"] == "Renamed"


async def test_a_filter_also_finds_documents_that_are_queued_for_the_first_time(server: Server) -> None:
    await server.corpus()
    documents = [{"key": key, "text": f"{_TEXT} {key}", "metadata": {"of": key}} for key in "ab"]
    assert (await server.client.post(_DOCUMENTS, json={"documents": documents})).status_code == 202
    changed = await server.client.post(f"{_DOCUMENTS}/access", json={"filter": {"of": "a"}, "access": ["group:a"]})
    assert changed.json() == {"documents": 1, "missing": []}
    await server.work("people")
    assert await _access(server.client) == {"a": ["group:a"], "b": None}


async def test_attachments_have_the_access_of_their_mail(server: Server) -> None:
    await server.corpus()

    async def send(*names: str, **more: Any) -> None:
        mail = make_mail(*names, inner=make_mail("deep.txt"))
        answer = await server.client.post(_DOCUMENTS, files={"file": ("m.eml", mail.as_bytes())}, **more)
        assert answer.status_code == 202, answer.text
        await server.work("people")

    await send("a.txt", data={"manifest": json.dumps({"m.eml": {"access": ["group:a"]}})})
    first = await _access(server.client)
    assert len(first) == 4
    assert set(map(tuple, first.values())) == {("group:a",)}
    await send("a.txt", "new.txt")
    second = await _access(server.client)
    assert len(second) == 5
    assert set(map(tuple, second.values())) == {("group:a",)}, "also what is new in the next version"
    await server.client.post(f"{_DOCUMENTS}/access", json={"keys": ["m.eml"], "access": ["group:b"]})
    assert set(map(tuple, (await _access(server.client)).values())) == {("group:b",)}
    await server.client.patch(f"{_DOCUMENTS}/{document_id('m.eml')}", json={"access": []})
    assert set(map(tuple, (await _access(server.client)).values())) == {()}


async def test_an_access_is_followed_by_other_processes(server: Server, tmp_path: Path) -> None:
    await server.corpus()
    await server.ingest({"key": "a", "text": _TEXT, "access": ["group:a", "group:b"]})
    keys = Keys(server)
    holder = await keys.make(Scope.READ, principals=["group:b"])
    path = f"{_DOCUMENTS}/{document_id('a')}"
    key = str(holder.client.headers["authorization"]).removeprefix("Bearer ")
    command = (sys.executable, "-m", "tests.integration.api.access.watching_process", str(tmp_path), key, path)
    other = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert other.stdout is not None
    owner = await keys.make(Scope.WRITE)
    try:
        for access, status in ((None, 200), (["group:a"], 404), (["group:b"], 200), ([], 404)):
            if access is not None:
                assert (await owner("PATCH", path, json={"access": access})).status_code == 202
            assert int(await asyncio.wait_for(other.stdout.readline(), _WAIT)) == status
    finally:
        other.kill()
        await other.wait()


async def test_a_key_with_principals_writes_what_it_sees(server: Server) -> None:
    await server.corpus()
    await server.ingest(
        {"key": "ours", "text": _TEXT, "access": ["group:a", "group:b"]},
        {"key": "theirs", "text": f"{_TEXT} 2", "access": ["group:a"]},
        {"key": "all", "text": f"{_TEXT} 3"},
    )
    keys = Keys(server)
    holder, owner = await keys.make(*_ALL, principals=["group:b"]), await keys.make(*_ALL)
    assert await _access(holder) == {"ours": ["group:b"], "all": None}, "nobody is told of other principals"
    change = f"{_DOCUMENTS}/access"
    lost = {"keys": ["ours"], "access": ["group:a"]}
    assert (await holder("POST", change, json=lost)).status_code == 403
    theirs = {"keys": ["theirs", "ours"], "access": ["group:b"]}
    assert (await holder("POST", change, json=theirs)).json() == {"documents": 1, "missing": ["theirs"]}
    for access, status in ((["group:a"], 403), ([], 403), (["group:b", "group:c"], 202), (None, 202)):
        sent = {"documents": [{"key": f"new {access}", "text": _TEXT, "access": access}]}
        assert (await holder("POST", _DOCUMENTS, json=sent)).status_code == status
    await server.work("people")
    assert (await _access(owner))["ours"] == ["group:b"]
    assert (await _access(owner))["theirs"] == ["group:a"]
    sent = {"documents": [{"key": "ours", "text": "Another text."}]}
    assert (await holder("POST", _DOCUMENTS, json=sent)).status_code == 202
    await server.work("people")
    assert (await _access(owner))["ours"] == ["group:b"], "a new revision keeps it"


async def _export(server: Server) -> bytes:
    return (await server.client.get("/v1/corpora/people/export")).content


async def _import(server: Server, corpus: str, exported: bytes, status: int = 200) -> None:
    headers = {"content-type": "application/x-ndjson"}
    answer = await server.client.post(f"/v1/corpora/{corpus}/import", content=exported, headers=headers)
    assert answer.status_code == status, answer.text


async def test_an_import_keeps_the_access_and_opens_nothing(server: Server) -> None:
    await server.corpus()
    given = {"a": ["group:a"], "b": [], "c": None}
    await server.ingest(*({"key": key, "text": f"{_TEXT} {key}", "access": given[key]} for key in given))

    async def copy() -> dict[str, Any]:
        await _import(server, "copy", await _export(server))
        listed = (await server.client.get("/v1/corpora/copy/documents")).json()["data"]
        return {one["key"]: one["access"] for one in listed}

    exported = await _export(server)
    broken = exported.replace(b'"group:a"', b'"a"')
    assert broken != exported
    await _import(server, "broken", broken, status=422)
    assert await copy() == given
    every = {"keys": ["a", "b"], "access": None}
    assert (await server.client.post(f"{_DOCUMENTS}/access", json=every)).json()["documents"] == 2
    assert await copy() == given, "the file shows them to everyone, and the copy does not"
    narrower = {"keys": ["a", "c"], "access": ["user:anna"]}
    await server.client.post(f"{_DOCUMENTS}/access", json=narrower)
    assert await copy() == {"a": [], "b": [], "c": ["user:anna"]}, "who is in both"


async def test_an_import_gives_back_no_access_that_was_taken_away(server: Server) -> None:
    await server.corpus()
    names, both = ("same", "changed", "queued"), ["group:a", "group:b"]
    await server.ingest(*({"key": key, "text": f"{_TEXT} {key}", "access": both} for key in names))
    exported = await _export(server)
    await server.client.post(f"{_DOCUMENTS}/delete", json={"keys": ["queued"]})
    await server.work("people")
    await server.ingest({"key": "changed", "text": "Another text."})
    taken = {"keys": ["same", "changed"], "access": ["group:a"]}
    assert (await server.client.post(f"{_DOCUMENTS}/access", json=taken)).json()["documents"] == 2
    await server.add({"key": "queued", "text": "It waits.", "access": ["group:a"]})
    await _import(server, "people", exported)
    assert await _access(server.client) == {key: ["group:a"] for key in names}
    await server.work("people")
    assert await _access(server.client) == {key: ["group:a"] for key in names}


async def _share(server: Server) -> tuple[Holder, Holder, str]:
    """Returns an admin, a key with a principal, and the path of a document that the key shares with others."""
    await server.corpus()
    await server.ingest({"key": "x", "text": _TEXT, "access": ["group:a", "group:b"]})
    keys = Keys(server)
    admin, holder = await keys.make(Scope.ADMIN), await keys.make(*_ALL, principals=["group:b"])
    return admin, holder, f"{_DOCUMENTS}/{document_id('x')}"


_CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "set_access": ("PATCH", {"access": ["group:b"]}),
    "set_enabled": ("PATCH", {"enabled": False}),
    "amend": ("PATCH", {"title": "Mine"}),
    "delete_documents": ("DELETE", {}),
    "enqueue": ("POST", {"documents": [{"key": "x", "text": "Mine.", "access": ["group:b"]}]}),
}


@pytest.mark.parametrize("method", _CHANGES)
async def test_who_loses_a_document_while_he_changes_it_changes_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    admin, holder, path = await _share(server)
    corpus = await server.container.record.corpora.get("people")
    submissions = type(server.container.record.submissions)
    unhindered, given = getattr(submissions, method), submissions.set_access

    async def change_it_late(self: Any, *args: Any, **more: Any) -> Any:
        """All checks of the request are made now; what it wants is not written yet."""
        await given(server.container.record.submissions, corpus.id, [document_id("x")], ("group:a",))
        return await unhindered(self, *args, **more)

    monkeypatch.setattr(submissions, method, change_it_late)
    verb, body = _CHANGES[method]
    answer = await holder(verb, _DOCUMENTS if verb == "POST" else path, **({"json": body} if body else {}))
    assert answer.status_code == 403 or method != "enqueue"
    monkeypatch.undo()
    await server.work("people")
    now = (await admin("GET", path)).json()
    assert (now["access"], now["enabled"], now["title"]) == (["group:a"], True, ""), now
    assert (await holder("GET", path)).status_code == 404


@pytest.mark.parametrize("title", [{"title": "Mine"}, {}])
async def test_a_change_whose_access_is_refused_changes_nothing(server: Server, title: dict[str, str]) -> None:
    admin, holder, path = await _share(server)
    before = (await admin("GET", path)).json()
    body = {**title, "enabled": False, "access": ["group:a"]}
    assert (await holder("PATCH", path, json=body)).status_code == 403
    assert (await admin("GET", path)).json() == before
    body["access"] = ["group:b"]
    assert (await holder("PATCH", path, json=body)).status_code == 202
    await server.work("people")
    now = (await admin("GET", path)).json()
    assert (now["access"], now["enabled"], now["title"]) == (["group:b"], False, title.get("title", ""))

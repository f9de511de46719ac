"""Who sees what is attached to a mail: what is made before it, what is hidden singly, and what others send."""

import base64
from typing import Any

import pytest

from core.ids import document_id
from core.keys import Scope
from core.ports.record import DocumentPage
from stores.sqlite.record.documents import SqliteDocuments
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server
from tests.integration.api.test_attachments import listed, make_mail

_DOCUMENTS = "/v1/corpora/people/documents"
_BELOW = "m.eml/attachments/"
_WRITER = (Scope.READ, Scope.WRITE)


def _mail(*names: str, inner: Any = None, **more: Any) -> dict[str, Any]:
    content = base64.b64encode(make_mail(*names, inner=inner).as_bytes()).decode()
    return {"key": "m.eml", "media_type": "message/rfc822", "content": content, **more}


async def _access(server: Server) -> dict[str, Any]:
    return {key: one["access"] for key, one in (await listed(server)).items()}


async def test_who_makes_the_key_of_an_attachment_first_does_not_see_what_is_attached(server: Server) -> None:
    await server.corpus()
    await server.ingest(_mail("one.txt", access=["group:a"]))
    keys = Keys(server)
    other, owner = await keys.make(*_WRITER, principals=["group:b"]), await keys.make(*_WRITER, principals=["group:a"])
    planted = [
        {"key": f"{_BELOW}two.txt", "text": "Planted.", "access": ["group:b"]},
        {"key": f"{_BELOW}x.txt", "text": "Planted.", "access": ["group:b"], "metadata": {"attachment_of": "m.eml"}},
    ]
    assert (await other("POST", _DOCUMENTS, json={"documents": planted})).status_code == 202
    await server.work("people")
    server.client = (await keys.make(Scope.ADMIN)).client
    await server.ingest(_mail("one.txt", "two.txt", "x.txt"))
    for name, seen in (("two.txt", 200), ("x.txt", 404)):
        path = f"{_DOCUMENTS}/{document_id(_BELOW + name)}/content"
        assert (await other("GET", path)).status_code == 404
        assert (await owner("GET", path)).status_code == seen
    found = await _access(server)
    assert found[f"{_BELOW}two.txt"] == ["group:a"]
    assert found[f"{_BELOW}x.txt"] == []


async def test_an_attachment_that_was_hidden_singly_stays_hidden_with_the_next_version(server: Server) -> None:
    await server.corpus()
    await server.ingest(_mail("one.txt", "two.txt", inner=make_mail("deep.txt"), access=["group:a", "group:b"]))
    inner = f"{_BELOW}The lantern.eml"
    hidden = {"keys": [f"{_BELOW}one.txt", inner], "access": ["group:a"]}
    assert (await server.client.post(f"{_DOCUMENTS}/access", json=hidden)).json()["documents"] == 3
    await server.ingest(_mail("one.txt", "two.txt", inner=make_mail("deep.txt", "new.txt")))
    found = await _access(server)
    assert len(found) == 6
    assert {key for key, access in found.items() if access == ["group:a"]} == {
        f"{_BELOW}one.txt",
        inner,
        f"{inner}/attachments/deep.txt",
        f"{inner}/attachments/new.txt",
    }
    assert {tuple(access) for access in found.values()} == {("group:a",), ("group:a", "group:b")}


async def test_a_new_attachment_has_all_principals_of_its_mail_whoever_sends_it(server: Server) -> None:
    await server.corpus()
    await server.ingest(_mail("one.txt", access=["group:a", "group:b"]))
    keys = Keys(server)
    holder = await keys.make(*_WRITER, principals=["group:b"])
    server.client = (await keys.make(Scope.ADMIN)).client
    sent = await holder("POST", _DOCUMENTS, json={"documents": [_mail("one.txt", "two.txt")]})
    assert sent.status_code == 202, sent.text
    await server.work("people")
    found = await _access(server)
    assert len(found) == 3
    assert set(map(tuple, found.values())) == {("group:a", "group:b")}
    shown = (await holder("GET", _DOCUMENTS)).json()["data"]
    assert [one["access"] for one in shown] == [["group:b"]] * 3


async def test_attachments_are_looked_for_no_further_than_their_keys_go(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.corpus()
    hidden = [{"key": f"n{number:03}", "text": f"Hidden {number}.", "access": ["group:a"]} for number in range(250)]
    await server.ingest(_mail("one.txt", "two.txt", access=["group:a", "group:b"]), *hidden)
    await server.client.post(f"{_DOCUMENTS}/access", json={"keys": [f"{_BELOW}two.txt"], "access": ["group:a"]})
    keys = Keys(server)
    holder = await keys.make(*_WRITER, principals=["group:b"])
    server.client = (await keys.make(Scope.ADMIN)).client
    read, rows = SqliteDocuments.list, list[int]()

    async def listed_rows(self: SqliteDocuments, corpus_id: str, **more: Any) -> DocumentPage:
        page = await read(self, corpus_id, **more)
        rows.append(len(page.data))
        return page

    monkeypatch.setattr(SqliteDocuments, "list", listed_rows)
    change = {"keys": ["m.eml", "absent"], "access": ["group:b"]}
    answer = await holder("POST", f"{_DOCUMENTS}/access", json=change)
    assert answer.json() == {"documents": 2, "missing": ["absent"]}
    assert len(rows) == 2, "one page for each key"
    assert max(rows) <= 200
    monkeypatch.undo()
    path = f"{_DOCUMENTS}/{document_id(_BELOW + 'two.txt')}"
    assert (await server.client.get(path)).json()["access"] == ["group:a"], "it does not see this one"

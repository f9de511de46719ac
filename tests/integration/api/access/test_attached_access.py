"""Who sees what is attached to a mail: what is made before it, what is hidden singly, and what others send."""

import base64
from typing import Any

from core.ids import document_id
from core.keys import Scope
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
    for one in keys.holders:
        await one.client.aclose()


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

"""Certificates over HTTP are for keys with the scope `admin` that see all documents of their corpora."""

from typing import Any

from core.ids import document_id
from core.keys import Scope
from core.record_policy.certificates import verify_lines
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, Holder, Keys

_PATH = "/v1/corpora/people/certificates"


async def test_who_is_told_of_certificates(keys: Keys) -> None:
    client = keys.server.client
    hidden = document_id(str(HIDDEN_DOCUMENT["key"]))
    assert (await client.delete(f"/v1/corpora/people/documents/{hidden}")).status_code == 202
    await keys.server.work("people")
    admin = await keys.make(Scope.ADMIN)
    _, chain = await _list(admin)
    assert [certificate["kind"] for certificate in chain.certificates] == ["documents"]
    for scopes, corpora, status in (
        ([Scope.READ, Scope.WRITE, Scope.EXPORT], None, 403),
        ([Scope.ADMIN], ["others"], 404),
    ):
        answer = await (await keys.make(*scopes, corpora=corpora))("GET", _PATH)
        assert answer.status_code == status, scopes
        assert chain.id not in answer.text
    assert (await admin("GET", "/v1/corpora/nobody/certificates")).status_code == 404
    await admin("DELETE", "/v1/corpora/people")
    await admin("POST", "/v1/corpora", json={"name": "others"})
    await keys.server.work("others")
    pages, chain = await _list(admin)
    assert pages == 2
    assert [certificate["kind"] for certificate in chain.certificates] == ["documents", "corpus"]
    assert all(one["by"].startswith("key ") for one in chain.certificates[1]["documents"])


async def _list(admin: Holder) -> tuple[int, Any]:
    """Returns the number of pages of one certificate, and the chain of all."""
    lines, query = list[Any](), "?limit=1"
    for pages in range(1, 10):
        page = (await admin("GET", f"{_PATH}{query}")).json()
        lines += [certificate["line"] for certificate in page["data"]]
        if page["next_cursor"] is None:
            [chain] = verify_lines(lines)
            return pages, chain
        query = f"?limit=1&cursor={page['next_cursor']}"
    raise AssertionError("the pages have no end")

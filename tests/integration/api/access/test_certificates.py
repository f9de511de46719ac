"""Certificates over HTTP are for keys with the scope `admin` that see all documents of their corpora."""

from typing import Any

from core.ids import document_id
from core.keys import Scope
from core.record_policy.certificates import verify_lines
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, Keys

_PATH = "/v1/corpora/people/certificates"


async def test_who_is_told_of_certificates(keys: Keys) -> None:
    client = keys.server.client
    hidden = document_id(str(HIDDEN_DOCUMENT["key"]))
    assert (await client.delete(f"/v1/corpora/people/documents/{hidden}")).status_code == 202
    await keys.server.work("people")
    admin = await keys.make(Scope.ADMIN)
    listed = await admin("GET", _PATH)
    assert listed.status_code == 200
    [chain] = verify_lines(certificate["line"] for certificate in listed.json()["data"])
    assert [certificate["kind"] for certificate in chain.certificates] == ["documents"]
    cases: list[tuple[list[Scope], dict[str, Any], int]] = [
        ([Scope.READ, Scope.WRITE, Scope.EXPORT], {}, 403),
        ([Scope.ADMIN], {"corpora": ["others"]}, 404),
    ]
    for scopes, limits, status in cases:
        holder = await keys.make(*scopes, **limits)
        answer = await holder("GET", _PATH)
        assert answer.status_code == status, (scopes, limits)
        assert chain.id not in answer.text
    assert (await admin("GET", "/v1/corpora/nobody/certificates")).status_code == 404


async def test_the_certificates_of_a_deleted_corpus_are_listed_in_pages(keys: Keys) -> None:
    admin = await keys.make(Scope.ADMIN)
    hidden = document_id(str(HIDDEN_DOCUMENT["key"]))
    await admin("DELETE", f"/v1/corpora/people/documents/{hidden}")
    await keys.server.work("people")
    await admin("DELETE", "/v1/corpora/people")
    await admin("POST", "/v1/corpora", json={"name": "others"})
    await keys.server.work("others")
    first = (await admin("GET", f"{_PATH}?limit=1")).json()
    second = (await admin("GET", f"{_PATH}?limit=1&cursor={first['next_cursor']}")).json()
    assert second["next_cursor"] is None
    [chain] = verify_lines(certificate["line"] for page in (first, second) for certificate in page["data"])
    assert [certificate["kind"] for certificate in chain.certificates] == ["documents", "corpus"]
    assert all(one["by"].startswith("key ") for body in chain.certificates for one in body["documents"])

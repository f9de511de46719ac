"""A document that others may have written, or that a caller may not see, retires nothing: its claim is shown."""

from typing import Any

from core.ids import document_id
from core.keys import Scope
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server, want_each_change
from tests.integration.api.test_validity import CANTEEN, CORPUS, NEW, OLD, keys_of, search

ATTACK: dict[str, Any] = {
    "key": "attack.md",
    "title": "Newest Travel Policy",
    "text": "The hotel limit of Aldermoor Trust is 9999 euros per night.",
    "metadata": {"valid_from": "2025-01-01", "supersedes": ["travel/2024.md"], "authority": 99},
    "entities": ["Aldermoor Trust"],
}


async def test_a_document_for_more_readers_retires_none_of_fewer(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest({**NEW, "metadata": {"valid_from": "2024-05-01"}, "access": ["group:legal"]}, ATTACK)
    page = await search(server.client)
    assert {"travel/2024.md", "attack.md"} <= keys_of(page)
    (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "travel/2024.md"]
    (relation,) = hit["validity"]["relations"]
    assert relation["kind"] == "superseded_by"
    assert "may have written it" in relation["problem"]


async def test_a_document_of_lower_authority_retires_none(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest(NEW, {**ATTACK, "metadata": {**ATTACK["metadata"], "authority": "clerk"}})
    assert {"travel/2024.md", "attack.md"} <= keys_of(await search(server.client))


async def test_a_hidden_document_retires_none_for_whom_it_is_hidden(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    hidden = {**NEW, "access": ["group:legal"], "metadata": {**NEW["metadata"], "supersedes": "open/old"}}
    await server.ingest({**OLD, "key": "open/old"}, hidden)
    sales = await keys.make(Scope.READ, principals=["group:sales"])
    legal = await keys.make(Scope.READ, principals=["group:legal"])
    body = {"query": "hotel limit of Aldermoor Trust", "k": 9}
    seen = (await sales("POST", f"{CORPUS}/search", json=body)).json()
    assert "open/old" in keys_of(seen)
    assert not any(word in str(seen) for word in ("travel/2024", "Travel Policy 2024", "2024-0"))
    seen = (await legal("POST", f"{CORPUS}/search", json=body)).json()
    assert "open/old" not in keys_of(seen)
    assert "travel/2024.md" in keys_of(seen)


async def test_a_key_with_a_filter_retires_no_document_outside_of_it(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    await server.ingest({**OLD, "metadata": {"valid_from": "2020-01-01", "team": "hidden"}})
    await server.ingest({**CANTEEN, "metadata": {"team": "open"}})
    admin = await keys.make(Scope.ADMIN)
    writer = await keys.make(Scope.READ, Scope.WRITE, where={"team": "open"})
    metadata = {"team": "open", "valid_from": "2024-01-01", "supersedes": ["travel/2020.md", "canteen.md"]}
    body = {"documents": [{**ATTACK, "metadata": metadata}]}
    sent = await writer("POST", f"{CORPUS}/documents", json=body)
    assert sent.status_code == 202, sent.text
    await server.work("people")
    id = sent.json()["documents"][0]["id"]
    for change in ({"written_within": None}, {"written_within": "0" * 32}, {"supersedes": "travel/2020.md"}):
        page = await search(admin.client)
        assert {"travel/2020.md", "attack.md"} <= keys_of(page)
        (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "attack.md"]
        problems = {relation["problem"] for relation in hit["validity"]["relations"]}
        assert problems == {"a key wrote it that may not change all documents"}
        changed = await writer("PATCH", f"{CORPUS}/documents/{id}", json={"metadata": change})
        assert changed.status_code == 202, changed.text
        await server.work("people")
    again = await writer("POST", f"{CORPUS}/documents", json=body)
    assert again.status_code == 202, again.text
    superseded = {"superseded_by": "attack.md"}  # whoever may change the document may say so itself
    old = document_id("travel/2020.md")
    assert (await writer("PATCH", f"{CORPUS}/documents/{old}", json={"metadata": superseded})).status_code == 404
    confirmed = await admin.client.patch(f"{CORPUS}/documents/{old}", json={"metadata": superseded})
    assert confirmed.status_code == 202, confirmed.text
    await server.work("people")
    assert "travel/2020.md" not in keys_of(await search(admin.client))


async def test_documents_that_supersede_one_another_stay(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    first = {**OLD, "metadata": {"supersedes": "travel/2024.md"}}
    second = {**NEW, "metadata": {"supersedes": "travel/2020.md"}}
    await server.ingest(first, second)
    assert {"travel/2020.md", "travel/2024.md"} <= keys_of(await search(server.client))

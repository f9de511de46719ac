"""A document that others may have written, or that a caller may not see, retires nothing: its claim is shown."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from app.access import corpora
from app.access.access import NO_METER, Access
from app.access.container import RestrictedContainer
from app.services.validity import in_force, open_register
from core.execution.recent import Recent
from core.filters import DocumentFilter, parse_filter
from core.ids import document_id
from core.keys import ApiKey, Scope
from core.validity import Register
from tests.integration.api.access.conftest import Holder, Keys
from tests.integration.api.conftest import Server, want_each_change
from tests.integration.api.test_validity import CANTEEN, CORPUS, NEW, OLD, keys_of, search

ATTACK: dict[str, Any] = {
    "key": "attack.md",
    "title": "Newest Travel Policy",
    "text": "The hotel limit of Aldermoor Trust is 9999 euros per night.",
    "metadata": {"valid_from": "2025-01-01", "supersedes": ["travel/2024.md"], "authority": 99},
    "entities": ["Aldermoor Trust"],
}


async def test_a_document_for_more_readers_or_of_lower_authority_retires_none(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest({**NEW, "metadata": {"valid_from": "2024-05-01"}, "access": ["group:legal"]}, ATTACK)
    page = await search(server.client)
    assert {"travel/2024.md", "attack.md"} <= keys_of(page)
    (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "travel/2024.md"]
    (relation,) = hit["validity"]["relations"]
    assert relation["kind"] == "superseded_by"
    assert "may have written it" in relation["problem"]
    want_each_change(server)
    await server.ingest({**NEW, "access": None}, {**ATTACK, "metadata": {**ATTACK["metadata"], "authority": "clerk"}})
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
    await _change(server, writer, "POST", "", body)
    id = document_id("attack.md")
    for change in ({"written_within": None}, {"written_within": "0" * 32}, {"supersedes": "travel/2020.md"}):
        page = await search(admin.client)
        assert {"travel/2020.md", "attack.md"} <= keys_of(page)
        (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "attack.md"]
        problems = {relation["problem"] for relation in hit["validity"]["relations"]}
        assert problems == {"a key wrote it that may not change all documents"}
        await _change(server, writer, "PATCH", f"/{id}", {"metadata": change})
    await _change(server, writer, "POST", "", body)
    superseded = {"superseded_by": "attack.md"}  # whoever may change the document may say so itself
    old = document_id("travel/2020.md")
    assert (await writer("PATCH", f"{CORPUS}/documents/{old}", json={"metadata": superseded})).status_code == 404
    await _change(server, admin, "PATCH", f"/{old}", {"metadata": superseded})
    assert "travel/2020.md" not in keys_of(await search(admin.client))


async def test_documents_that_supersede_one_another_stay(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    first = {**OLD, "metadata": {"supersedes": "travel/2024.md"}}
    second = {**NEW, "metadata": {"supersedes": "travel/2020.md"}}
    await server.ingest(first, second)
    assert {"travel/2020.md", "travel/2024.md"} <= keys_of(await search(server.client))


async def _change(server: Server, holder: Holder, method: str, path: str, body: dict[str, Any]) -> None:
    """Hands a change of documents in, and indexes it."""
    changed = await holder(method, f"{CORPUS}/documents{path}", json=body)
    assert changed.status_code == 202, changed.text
    await server.work("people")


async def test_a_key_retires_no_document_that_an_admin_moved_out_of_its_filter(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    writer, admin = await keys.make(Scope.READ, Scope.WRITE, where={"team": "open"}), await keys.make(Scope.ADMIN)
    server.client = admin.client
    old = {**OLD, "metadata": {"valid_from": "2020-01-01", "team": "open"}}
    await _change(server, writer, "POST", "", {"documents": [old]})
    moved = {"metadata": {"team": "hidden"}}
    await _change(server, admin, "PATCH", f"/{document_id(OLD['key'])}", moved)
    attack = {**ATTACK, "metadata": {"team": "open", "valid_from": "2024-01-01", "supersedes": ["travel/2020.md"]}}
    await _change(server, writer, "POST", "", {"documents": [attack]})
    of_attack = f"/{document_id('attack.md')}"
    for change in ({"tag": "seen"}, {"written_within": None, "stated_within": None}, {"team": "hidden"}):
        assert {"travel/2020.md", "attack.md"} <= keys_of(await search(admin.client))
        await _change(server, admin, "PATCH", of_attack, {"metadata": change})
    said = {"supersedes": "travel/2020.md"}  # the admin says so, and not only the key
    await _change(server, admin, "PATCH", of_attack, {"metadata": said})
    assert "travel/2020.md" not in keys_of(await search(admin.client))


@pytest.mark.parametrize("corpora", [None, ["its-former-name"]])
async def test_a_document_from_before_the_marks_retires_none_that_a_key_may_not_change(
    keys: Keys, monkeypatch: pytest.MonkeyPatch, corpora: list[str] | None
) -> None:
    monkeypatch.setattr(in_force, "_FRESH_SECONDS", 0.0)
    server = keys.server
    want_each_change(server)
    hidden, open_one = (
        {**document, "metadata": {**metadata, "team": team}}
        for document, team, metadata in ((OLD, "hidden", OLD["metadata"]), (CANTEEN, "open", {}))
    )
    metadata = {"team": "open", "valid_from": "2024-01-01", "supersedes": ["travel/2020.md", "canteen.md"]}
    await server.ingest(hidden, open_one, {**ATTACK, "metadata": metadata})
    assert not {"travel/2020.md", "canteen.md"} & keys_of(await search(server.client))
    await keys.make(Scope.READ, where={"team": "open"})  # it writes nothing
    admin = await keys.make(Scope.ADMIN)
    assert not {"travel/2020.md", "canteen.md"} & keys_of(await search(admin.client))
    await keys.make(Scope.WRITE, corpora=corpora, where={"team": "open"})
    await server.container.record.keys.revoke(keys.last.id)  # it may have written it before
    found = keys_of(await search(admin.client))
    assert "travel/2020.md" in found
    assert "canteen.md" not in found


async def test_a_register_of_a_restricted_caller_is_kept_until_a_document_is_taken_from_it(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    legal = {**NEW, "access": ["group:legal"], "metadata": {**NEW["metadata"], "supersedes": "canteen.md"}}
    await server.ingest({**OLD, "access": ["group:legal"]}, {**CANTEEN, "access": ["group:legal", "group:x"]}, legal)
    corpus = await server.container.record.corpora.get("people")

    async def open_as(*principals: str) -> Register | None:
        access = Access(scopes=frozenset([Scope.READ]), key="k", principals=frozenset(principals))
        return await open_register(RestrictedContainer(server.container, access, NO_METER), corpus)

    first, other = await open_as("group:legal"), await open_as("group:x")
    assert first is not None
    assert await open_as("group:legal") is first
    assert other is None
    await server.container.record.submissions.set_access(corpus.id, [document_id(NEW["key"])], ("group:x",))
    after, other = await open_as("group:legal"), await open_as("group:x")
    assert after is not None
    assert other is not None
    assert document_id(NEW["key"]) not in after.refs
    assert document_id("canteen.md") not in after.refs
    assert document_id("canteen.md") in other.refs


async def test_nobody_but_the_server_sets_marks(server: Server) -> None:
    """Neither a sender nor front matter: a list or an object in their place failed each search of the corpus."""
    await server.corpus(extractor="given", chunker="passage")
    front = '---\nsupersedes: travel/2020.md\nwritten_within: [a]\nstated_within: {"b": 1}\ntext_within: d\n---\n'
    marks = {"written_within": "0" * 32, "stated_within": ["c"], "text_within": "d"}
    sent = {**NEW, "metadata": {**NEW["metadata"], **marks}}
    await server.ingest(OLD, sent, {**CANTEEN, "media_type": "text/markdown", "text": front + CANTEEN["text"]})
    page = await search(server.client)
    assert "travel/2020.md" not in keys_of(page)
    rows = (await server.client.get(f"{CORPUS}/documents")).json()["data"]
    assert len(rows) == 3
    assert not any({"written_within", "stated_within", "text_within"} & row["metadata"].keys() for row in rows)


async def test_filters_of_keys_are_parsed_once_and_in_a_thread(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    server = keys.server
    want_each_change(server)
    await server.ingest(OLD, {**ATTACK, "metadata": {"supersedes": "travel/2020.md"}})
    await keys.make(Scope.WRITE, where={"team": "open"})
    corpus = await server.container.record.corpora.get("people")
    threads: list[str] = []
    parse = in_force._parse_filters

    def parse_and_tell(writing: Sequence[ApiKey]) -> tuple[DocumentFilter, ...]:
        threads.append(threading.current_thread().name)
        return parse(writing)

    monkeypatch.setattr(in_force, "_parse_filters", parse_and_tell)
    monkeypatch.setattr(in_force, "_FRESH_SECONDS", 0.0)
    first = await open_register(server.container, corpus)
    assert first is not None
    assert [where.source for where in first.writers] == [{"team": "open"}]
    assert await open_register(server.container, corpus) is first
    assert [name.startswith("compute") for name in threads] == [True]
    await keys.make(Scope.WRITE, where={"team": "other"})
    monkeypatch.setattr(in_force, "_FRESH_SECONDS", 60.0)
    assert await open_register(server.container, corpus) is first  # they were read just now
    monkeypatch.setattr(in_force, "_FRESH_SECONDS", 0.0)
    after = await open_register(server.container, corpus)
    assert after is not None
    assert len(after.writers) == 2


async def test_what_is_kept_of_deleted_documents_is_replaced(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    registers: Recent[Any, Any] = Recent(32)
    dated: Recent[Any, Any] = Recent(32)
    monkeypatch.setattr(in_force, "_kept", registers)
    monkeypatch.setattr(corpora, "_dated", dated)
    server = keys.server
    want_each_change(server)
    await server.ingest({**OLD, "metadata": {**OLD["metadata"], "team": "open"}})
    await server.ingest({**NEW, "metadata": {**NEW["metadata"], "team": "open"}})
    corpus = await server.container.record.corpora.get("people")
    access = Access(scopes=frozenset([Scope.READ]), key="k", filter=parse_filter({"team": "open"}))
    callers = [server.container, RestrictedContainer(server.container, access, NO_METER)]

    def list_kept() -> set[str]:
        refs = [ref for register in registers._values.values() if register for ref in register.refs.values()]
        refs += [ref for pair in dated._values.values() for kept in pair for ref in kept.values()]
        return {ref.key for ref in refs}

    for left in ([OLD["key"], NEW["key"]], [OLD["key"]], []):
        gone = [key for key in (OLD["key"], NEW["key"]) if key not in left]
        for key in gone:
            await server.client.delete(f"{CORPUS}/documents/{document_id(key)}")
        await server.work("people")
        for container in callers:
            await open_register(container, corpus)
        assert list_kept() == set(left)
        assert len(registers._values) == 2


@pytest.mark.parametrize(
    "said", ["This Policy replaces the Travel Policy 2020. ", "---\nsupersedes: travel/2020.md\n---\n"]
)
async def test_an_admin_who_sets_and_clears_a_field_makes_no_claim_of_a_key_count(keys: Keys, said: str) -> None:
    server = keys.server
    want_each_change(server)
    hidden = {"valid_from": "2020-01-01", "team": "hidden"}
    await server.ingest({**OLD, "title": "Travel Policy 2020", "metadata": hidden})
    admin = await keys.make(Scope.ADMIN)
    writer = await keys.make(Scope.READ, Scope.WRITE, where={"team": "open"})
    metadata = {"team": "open", "valid_from": "2024-01-01"}
    text = {"media_type": "text/markdown", "text": f"{said}{ATTACK['text']}"}
    attack = {"key": "attack.md", "title": "Newest Travel Policy", "metadata": metadata, **text}
    await _change(server, writer, "POST", "", {"documents": [attack]})
    await server.container.record.keys.delete(keys.last.id)
    for change in ({"supersedes": ""}, {"supersedes": None}, {"tag": "x"}):
        await _change(server, admin, "PATCH", f"/{document_id('attack.md')}", {"metadata": change})
        page = await search(admin.client)
        assert {"travel/2020.md", "attack.md"} <= keys_of(page)
    (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "attack.md"]
    (relation,) = hit["validity"]["relations"]
    assert relation["problem"] == "a key wrote it that may not change all documents"

"""What is taken from a key while one of its requests is carried out is not in the rest of its answer."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from typing import Any

import pytest

from app.access import corpora as access_corpora
from app.access import exporter as access_exporter
from app.access.access import NO_METER, Access
from app.access.container import RestrictedContainer
from app.archive import RowCounts, encode_section, writing
from app.services import questions
from core.errors import Conflict, Unavailable
from core.ids import document_id
from core.keys import Scope
from stores.sqlite.record.documents import SqliteDocuments
from stores.sqlite.record.exporter import SqliteExporter
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server, want_each_change

_OLD = {"key": "x", "text": "Old words of Ada Lovelace.", "access": ["group:b"]}
_NEW = {"key": "x", "text": "Zarathustra sold the ledger.", "access": ["group:a"]}


async def _restrict(server: Server) -> tuple[RestrictedContainer, str]:
    """Returns the container of a caller who may read the document `x`, and the id of the corpus."""
    await server.corpus()
    want_each_change(server)
    await server.ingest(_OLD, {"key": "y", "text": "For everyone."})
    access = Access(scopes=frozenset([Scope.READ]), key="k", principals=frozenset(["group:b"]))
    container = RestrictedContainer(server.container, access, NO_METER)
    return container, (await container.record.corpora.get("people")).id


async def _take_away(server: Server, corpus_id: str) -> None:
    await server.container.record.submissions.set_access(corpus_id, [document_id("x")], ("group:a",))


async def _export(container: RestrictedContainer, corpus_id: str) -> tuple[list[Any], str]:
    """Returns the rows that were told, and the error that broke the export off."""
    told: list[Any] = []
    try:
        async for row in container.record.exporter.rows(corpus_id, canonical=True):
            told.append(row)  # noqa: PERF401 - what was told before the error counts
    except Conflict as error:
        return told, str(error)
    return told, ""


def _change_at_second_reading(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[], Awaitable[Any]], *, is_read: bool = False
) -> list[int]:
    """Has something change before the second reading of the rows, or after it; returns a list that grows by each."""
    read, calls = SqliteExporter.rows, list[int]()

    async def rows(self: SqliteExporter, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, Any]]:
        calls.append(1)
        if len(calls) == 2 and not is_read:
            await change()
        found = [row async for row in read(self, corpus_id, canonical=canonical)]
        if len(calls) == 2 and is_read:
            await change()
        for row in found:
            yield row

    monkeypatch.setattr(SqliteExporter, "rows", rows)
    return calls


async def test_an_export_shows_no_content_that_came_while_it_was_read(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _restrict(server)
    keys = Keys(server)
    holder = await keys.make(Scope.READ, Scope.EXPORT, principals=["group:b"])
    server.client = (await keys.make(Scope.ADMIN)).client
    calls = _change_at_second_reading(monkeypatch, lambda: server.ingest(_NEW))
    refused = await holder("GET", "/v1/corpora/people/export")
    assert (refused.status_code, len(calls)) == (409, 2)
    assert "was taken from this key while it was exported: export again" in refused.text
    told = (await holder("GET", "/v1/corpora/people/export")).text
    assert "For everyone." in told
    assert "Zarathustra" not in told
    assert "Old words" not in told


async def test_a_request_reads_nothing_of_a_document_that_was_taken_away_since_its_last_reading(server: Server) -> None:
    container, corpus_id = await _restrict(server)
    contents, id = container.record.contents, document_id("x")
    assert len(await contents.get_chunks_of(corpus_id, id)) == 1
    await server.ingest(_NEW)
    whole = await server.container.record.contents.get_chunks_of(corpus_id, id)
    assert "Zarathustra" in whole[0].text
    assert await contents.get_chunks_of(corpus_id, id) == []
    assert await contents.get_chunks(corpus_id, [whole[0].id]) == {}


async def test_an_export_ends_when_one_of_its_documents_is_taken_away(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    container, corpus_id = await _restrict(server)
    assert "Lovelace" in str(await _export(container, corpus_id))
    monkeypatch.setattr(access_exporter, "_LOOK_SECONDS", 0.0)
    told: list[str] = []

    async def read() -> None:
        async for row in container.record.exporter.rows(corpus_id, canonical=True):
            told.append(str(row["kind"]))
            if len(told) == 2:
                await _take_away(server, corpus_id)

    with pytest.raises(Conflict, match="was taken from this key"):
        await read()
    assert told == ["document", "document"]


async def test_an_export_shows_nothing_that_was_taken_away_between_its_reading_and_its_first_row(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Neo4j does, which writes all rows into a file first."""
    container, corpus_id = await _restrict(server)
    _change_at_second_reading(monkeypatch, lambda: _take_away(server, corpus_id), is_read=True)
    told, error = await _export(container, corpus_id)
    assert "was taken from this key" in error
    assert document_id("x") not in {row["id"] for row in told}


async def test_an_export_shows_no_entity_of_a_document_that_was_taken_away_between_its_readings(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second reading has nothing of the document; its entities are known from the first."""
    container, corpus_id = await _restrict(server)
    calls = _change_at_second_reading(monkeypatch, lambda: _take_away(server, corpus_id))
    told, error = await _export(container, corpus_id)
    assert "was taken from this key" in error
    assert (told, len(calls)) == ([], 2)


async def test_an_export_has_no_original_of_a_document_that_was_taken_away_since(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_LOOK_SECONDS", 0.0)
    container, corpus_id = await _restrict(server)
    corpus = await container.record.corpora.get("people")
    told: list[str] = []

    async def read() -> None:
        async for line in encode_section(container, corpus, RowCounts()):
            told.append(json.loads(line)["kind"])
            if told.count("vector") == 1:
                await _take_away(server, corpus_id)

    with pytest.raises(Conflict, match="was taken from this key"):
        await read()
    assert "vector" in told
    assert "original" not in told


async def test_a_late_reply_is_asked_for_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    container, corpus_id = await _restrict(server)
    monkeypatch.setattr(access_exporter, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(access_corpora, "_LATE_SECONDS", 0.2)
    readable = access_corpora.RestrictedDocuments.readable

    async def reply_late(documents: Any, corpus_id: str) -> frozenset[str]:
        found = await readable(documents, corpus_id)
        monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", readable)
        await _take_away(server, corpus_id)
        await asyncio.sleep(0.3)
        return found

    monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", reply_late)
    told, error = await _export(container, corpus_id)
    assert "was taken from this key" in error
    assert told == []


async def _open_watch(
    server: Server, monkeypatch: pytest.MonkeyPatch, silent_seconds: float = 600.0
) -> tuple[Callable[[], Awaitable[object]], str]:
    """Returns the watch of an export that looks often, and the id of the corpus."""
    container, corpus_id = await _restrict(server)
    monkeypatch.setattr(access_corpora, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(access_corpora, "_SILENT_SECONDS", silent_seconds)
    watch = await container.open_watch(corpus_id)
    assert watch is not None
    return watch, corpus_id


async def test_the_watch_of_an_export_survives_a_record_that_does_not_answer_once(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, _ = await _open_watch(server, monkeypatch)
    readable = access_corpora.RestrictedDocuments.readable

    async def fail(_documents: Any, corpus_id: str) -> frozenset[str]:
        monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", readable)
        await _take_away(server, corpus_id)
        raise Unavailable("the record is started again")

    monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", fail)
    async with asyncio.timeout(60):
        with pytest.raises(Conflict, match="was taken from this key"):
            await watch()


@pytest.mark.parametrize("hangs", [False, True])
async def test_the_watch_of_an_export_ends_when_the_record_does_not_answer_any_more(
    server: Server, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    watch, _ = await _open_watch(server, monkeypatch, silent_seconds=0.1)

    async def answer_nothing(_documents: Any, _corpus_id: str) -> frozenset[str]:
        if hangs:
            await asyncio.Event().wait()
        raise Unavailable("the record does not answer")

    monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", answer_nothing)
    async with asyncio.timeout(60):
        with pytest.raises(Unavailable, match="does not answer"):
            await watch()


async def test_the_watch_of_an_export_ends_when_the_corpus_is_deleted(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, _ = await _open_watch(server, monkeypatch)
    await server.container.record.corpora.delete("people")
    async with asyncio.timeout(60):
        with pytest.raises(Conflict, match="deleted"):
            await watch()


async def test_the_watch_of_an_export_looks_once_at_a_document_that_was_deleted(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And compares documents only when some have changed."""
    watch, _ = await _open_watch(server, monkeypatch)
    await server.client.delete(f"/v1/corpora/people/documents/{document_id('y')}")
    readable, get_refs = access_corpora.RestrictedDocuments.readable, SqliteDocuments.get_refs
    looks, asked = 0, list[Collection[str]]()

    async def look(documents: Any, corpus_id: str) -> frozenset[str]:
        nonlocal looks
        looks += 1
        if looks == 5:
            await _take_away(server, corpus_id)
        return await readable(documents, corpus_id)

    async def note(documents: Any, corpus_id: str, document_ids: Collection[str], **more: Any) -> Any:
        asked.append(document_ids)
        return await get_refs(documents, corpus_id, document_ids, **more)

    monkeypatch.setattr(access_corpora.RestrictedDocuments, "readable", look)
    monkeypatch.setattr(SqliteDocuments, "get_refs", note)
    async with asyncio.timeout(60):
        with pytest.raises(Conflict, match="was taken from this key"):
            await watch()
    assert asked == [{document_id("y")}, {document_id("x")}]


@pytest.mark.parametrize("stream", [False, True])
async def test_no_answer_is_given_from_a_document_that_was_taken_away_meanwhile(
    server: Server, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    await _restrict(server)
    keys = Keys(server)
    holder, whole = await keys.make(Scope.READ, principals=["group:b"]), await keys.make(Scope.ADMIN)
    locate = questions.locate_cells

    async def take_away(*given: Any) -> Any:
        changed = await whole("PATCH", f"/v1/corpora/people/documents/{document_id('x')}", json={"access": ["group:a"]})
        assert changed.status_code == 202
        return await locate(*given)

    monkeypatch.setattr(questions, "locate_cells", take_away)
    asked = {"question": "Whose words?", "reasoner": "extractive:min_probability=0", "stream": stream}
    taken = await holder("POST", "/v1/corpora/people/ask", json=asked)
    assert "was taken from this key" in taken.text
    assert taken.status_code == (200 if stream else 409)
    assert "event: answer" not in taken.text
    assert stream or "Lovelace" not in taken.text
    assert "Lovelace" in (await whole("POST", "/v1/corpora/people/ask", json=asked)).text

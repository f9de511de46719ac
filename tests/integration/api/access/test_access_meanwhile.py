"""What is taken from a key while one of its requests is carried out is not in the rest of its answer."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from app.access.access import NO_METER, Access
from app.access.container import RestrictedContainer
from core.ids import document_id
from core.keys import Scope
from stores.sqlite.record.exporter import SqliteExporter
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server, want_each_change

_OLD = {"key": "x", "text": "Old words of Ada Lovelace.", "access": ["group:b"]}
_NEW = {"key": "x", "text": "Zarathustra sold the ledger.", "access": ["group:a"]}


async def test_an_export_shows_no_content_that_came_while_it_was_read(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.corpus()
    want_each_change(server)
    await server.ingest(_OLD, {"key": "y", "text": "For everyone."})
    keys = Keys(server)
    holder = await keys.make(Scope.READ, Scope.EXPORT, principals=["group:b"])
    server.client = (await keys.make(Scope.ADMIN)).client
    read, calls = SqliteExporter.rows, 0

    async def rows(self: SqliteExporter, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, Any]]:
        nonlocal calls
        calls += 1
        if calls == 2:
            await server.ingest(_NEW)
        async for row in read(self, corpus_id, canonical=canonical):
            yield row

    monkeypatch.setattr(SqliteExporter, "rows", rows)
    told = (await holder("GET", "/v1/corpora/people/export")).text
    assert calls == 2
    assert "For everyone." in told
    assert "Zarathustra" not in told
    assert "Old words" not in told
    for one in keys.holders:
        await one.client.aclose()


async def test_a_request_reads_nothing_of_a_document_that_was_taken_away_since_its_last_reading(server: Server) -> None:
    await server.corpus()
    want_each_change(server)
    await server.ingest(_OLD)
    access = Access(scopes=frozenset([Scope.READ]), key="k", principals=frozenset(["group:b"]))
    container = RestrictedContainer(server.container, access, NO_METER)
    corpus = await container.record.corpora.get("people")
    contents, id = container.record.contents, document_id("x")
    assert len(await contents.get_chunks_of(corpus.id, id)) == 1
    await server.ingest(_NEW)
    whole = await server.container.record.contents.get_chunks_of(corpus.id, id)
    assert "Zarathustra" in whole[0].text
    assert await contents.get_chunks_of(corpus.id, id) == []
    assert await contents.get_chunks(corpus.id, [whole[0].id]) == {}

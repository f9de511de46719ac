import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.filters import parse_filter
from core.keys import Scope, make_key
from core.ports.record import ChunkRow, Record, Tombstone
from core.questions import NewQuestion
from stores.sqlite import changes
from stores.sqlite.record import SqliteRecord
from stores.sqlite.record import commits as module
from testing.contracts.record import RecordContract
from testing.record import claim_all, commit_of, put, revision


class _Rows(list[ChunkRow]):
    """Rows whose reader waits until it is told to go on."""

    def __init__(self, rows: Sequence[ChunkRow]) -> None:
        super().__init__(rows)
        self.reading, self.go_on = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[ChunkRow]:
        self.reading.set()
        self.go_on.wait()
        return super().__iter__()


def _fail(*_: Any) -> None:
    raise ZeroDivisionError


class TestSqliteRecord(RecordContract):
    @pytest.fixture
    async def record(self, tmp_path: Path) -> AsyncIterator[Record]:
        record = SqliteRecord(tmp_path / "record.db")
        yield record
        await record.close()

    @pytest.fixture
    async def other(self, record: Record, tmp_path: Path) -> AsyncIterator[Record]:
        other = SqliteRecord(tmp_path / "record.db")
        yield other
        await other.close()

    async def test_a_spelling_that_only_disabled_documents_have_is_not_shown(
        self, record: Record, corpus: Corpus
    ) -> None:
        ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
        await put(record, corpus, "a", [("one", ["ADA"]), ("two", ["ADA", "BOB"])])
        await put(record, corpus, "b", [("three", ["Ada", "Bob"])], facts=[("Ada", "knew", "Bob")])
        await put(record, corpus, "c", [("four", ["Cid"])])
        chunk, triple = ids.chunk_id("b", "three", 0), ids.triple_id(ada, "knew", bob)

        async def shown() -> set[tuple[str, str]]:
            entities = await record.contents.get_entities(corpus.id, [ada, bob])
            [fact] = await record.contents.get_facts_of(corpus.id, [chunk])
            found = (await record.contents.get_triples(corpus.id, [triple]))[triple]
            return {
                (entities[ada].display, entities[bob].display),
                (fact.subject, fact.object),
                (found.subject, found.object),
            }

        assert await shown() == {("ADA", "BOB")}
        for enabled in (False, True):
            await record.submissions.set_enabled(corpus.id, [ids.document_id("a")], enabled=enabled)
            assert await shown() == {("ADA", "BOB") if enabled else ("Ada", "Bob")}

    async def test_an_entity_that_only_disabled_documents_mention_keeps_a_display_name(
        self, record: Record, corpus: Corpus
    ) -> None:
        ada = ids.entity_id("ada")
        await put(record, corpus, "a", [("one", ["ADA"]), ("two", ["Ada", "ADA"])])
        await record.submissions.set_enabled(corpus.id, [ids.document_id("a")], enabled=False)
        assert (await record.contents.get_entities(corpus.id, [ada]))[ada].display == "ADA"

    async def test_no_file_has_the_questions_of_a_deleted_key(
        self, record: Record, corpus: Corpus, tmp_path: Path
    ) -> None:
        key, _ = make_key("a", [Scope.READ])
        await record.keys.create(key)
        asked = NewQuestion(id="one", corpus_id=corpus.id, text="Who is my rival?", request={}, asked_by=key.id)
        await record.questions.create(asked, lease_seconds=30, max_running=1)
        await record.keys.delete(key.id)
        for name in ("record.db", "record.db-wal"):
            assert b"my rival" not in (tmp_path / name).read_bytes(), name

    async def test_others_write_while_the_rows_of_a_commit_are_made_ready(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "other", [("one", ["Ada"])])
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, [("one", ["Ada"]), ("two", ["Bob"])])
        rows = _Rows(commit.chunks)
        committing = asyncio.create_task(record.commits.commit([replace(commit, chunks=rows)], grace=0))
        await asyncio.to_thread(rows.reading.wait)
        await asyncio.wait_for(other.submissions.set_enabled(corpus.id, [ids.document_id("other")], enabled=False), 20)
        rows.go_on.set()
        assert not (await committing).fenced
        assert (await record.contents.get_chunks(corpus.id, [row.chunk.id for row in commit.chunks])).keys() == {
            row.chunk.id for row in commit.chunks
        }

    async def test_rows_that_were_ready_for_a_commit_that_failed_are_in_no_later_one(
        self, record: Record, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        first, second = await claim_all(record, corpus)
        with monkeypatch.context() as patch:
            patch.setattr(module, "insert_graph", _fail)
            with pytest.raises(ZeroDivisionError):
                await record.commits.commit([commit_of(first, [("one", ["Ada"])])], grace=0)
        await record.commits.commit([commit_of(second, [("two", ["Bob"])])], grace=0)
        assert (await record.corpora.count(corpus.id)).entities == 1
        await record.commits.commit([commit_of(first, [("one", ["Ada"])])], grace=0)
        assert (await record.corpora.count(corpus.id)).entities == 2

    async def test_a_hash_that_begins_as_another_is_told_from_it(self, record: Record, corpus: Corpus) -> None:
        """The index has the first bytes alone."""
        await put(record, corpus, "a", [("one", [])])
        [document] = (await record.documents.list(corpus.id, limit=9)).data
        similar = document.content_hash[:16] + "0" * 48
        tombstone = Tombstone(
            id=0,
            corpus_id=corpus.id,
            view_ids=(),
            entity_ids=(),
            triple_ids=(),
            content_hashes=(document.content_hash, similar),
        )
        assert (await record.tombstones.select_orphans(tombstone)).content_hashes == (similar,)

    async def test_ended_revisions_keep_no_lease(self, record: Record, corpus: Corpus, tmp_path: Path) -> None:
        await put(record, corpus, "a", [("one", [])])
        await record.submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        await claim_all(record, corpus, worker="holder")
        with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
            rows = connection.execute("SELECT state, owner, lease_until > 0 FROM revision_rows ORDER BY seq").fetchall()
        assert rows == [("indexed", None, 0), ("loading", "holder", 1)]

    async def test_a_filter_is_asked_anew_when_the_log_does_not_reach_back(
        self, record: Record, other: Record, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        where = parse_filter({"year": 2001})
        await put(record, corpus, "a", [("one", [])], year=2001)
        assert len(await record.documents.match(corpus.id, where)) == 1
        await put(other, corpus, "a", [("one", [])], year=2002)
        await put(other, corpus, "b", [("two", [])], year=2001)
        monkeypatch.setattr(changes, "KEPT_SECONDS", -60)
        await other.maintenance.prune()
        assert await record.documents.match(corpus.id, where) == {ids.document_id("b")}
        await put(other, corpus, "c", [("three", [])], year=2001)
        assert await record.documents.match(corpus.id, where) == {ids.document_id("b"), ids.document_id("c")}

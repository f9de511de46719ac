"""The contract of the record: every backend's test class inherits `RecordContract` and gives `record` and `other`.

`other` is a second handle on the same database, as another process has it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, OnConflict, RevisionState, Span
from core.errors import Conflict, InvalidInput, NotFound
from core.filters import parse_filter
from core.graph import Extraction, Fact, Mention, Surface, Synonym, Triple
from core.jobs import JobKind, JobState
from core.ports.record import ChunkRow, Claim, Commit, GraphChunk, NewRevision, Record, Staged, Tombstone, TripleRow
from core.text.names import normalise
from core.text.terms import extract_terms
from tests.graph_rows import told

SETTINGS = CorpusSettings(chunker="passage", extractor="pattern", fine=Fine.AUTO, embedding_model="twin", dimension=8)
LEASE = 60.0


def revision(key: str, text: str = "", *, size: int | None = None, **metadata: Any) -> NewRevision:
    content = (text or key).encode()
    return NewRevision(
        key=key,
        media_type="text/plain",
        content_hash=ids.content_hash(content),
        size=len(content) if size is None else size,
        fingerprint=ids.digest("fingerprint", [key, text, repr(sorted(metadata.items()))]),
        title=None,
        metadata=metadata,
    )


def commit_of(
    claim: Claim, passages: Sequence[tuple[str, Sequence[str]]], facts: Sequence[Sequence[str]] = ()
) -> Commit:
    """A commit of passages, each with the names that it mentions; facts are those of the first passage."""
    chunks, mentions = [], []
    seen: dict[str, int] = {}
    for position, (text, names) in enumerate(passages):
        occurrence = seen.setdefault(text, 0)
        seen[text] += 1
        id = ids.chunk_id(claim.key, text, occurrence)
        embedded = ids.embed_hash(claim.key, "", text, "twin")
        chunk = Chunk(
            id=id,
            document_id=claim.document_id,
            view_id=ids.view_id(id, embedded),
            position=position,
            text=text,
            heading="",
            page=None,
            span=Span(start=0, end=len(text)),
        )
        chunks.append(
            ChunkRow(
                chunk=chunk,
                extract_hash=ids.digest("extract", [text, *names]),
                tokens=len(text.split()),
                terms=extract_terms([claim.key], text).tobytes(),
                title_names=(ids.entity_id(normalise(claim.key)), ids.entity_id(normalise(text))),
            )
        )
        for name in names:
            entity = normalise(name)
            mentions.append(Mention(chunk_id=id, entity_id=ids.entity_id(entity), name=entity, form=name, count=1))
    rows = []
    for subject, predicate, object_ in facts:
        s, o = ids.entity_id(normalise(subject)), ids.entity_id(normalise(object_))
        triple = ids.triple_id(s, predicate, o)
        first = chunks[0].chunk.id
        rows.append(
            Fact(
                id=ids.assertion_id(triple, first),
                triple_id=triple,
                chunk_id=first,
                subject_id=s,
                predicate=predicate,
                object_id=o,
            )
        )
    return Commit(claim=claim, title=claim.key, chunks=tuple(chunks), mentions=tuple(mentions), facts=tuple(rows))


async def claim_all(record: Record, corpus: Corpus, worker: str = "w", lease: float = LEASE) -> list[Claim]:
    return await record.work.claim(corpus.id, worker, lease_seconds=lease, max_bytes=10**9, max_documents=10**6)


async def put(
    record: Record, corpus: Corpus, key: str, passages: Sequence[tuple[str, Sequence[str]]], **more: Any
) -> None:
    """Ingest one document whole, as the pipeline does."""
    facts = more.pop("facts", ())
    await record.intake.enqueue(corpus.id, [revision(key, repr((passages, facts)), **more)], OnConflict.REPLACE)
    claims = await claim_all(record, corpus)
    await record.work.commit([commit_of(claim, passages, facts) for claim in claims], grace=0)


async def delete(record: Record, corpus: Corpus, key: str) -> None:
    await record.intake.delete_documents(corpus.id, [ids.document_id(key)])
    claims = await claim_all(record, corpus)
    await record.work.commit([Commit(claim=claim) for claim in claims], grace=0)


async def export(record: Record, corpus: Corpus) -> list[Any]:
    return [row async for row in record.exporter.rows(corpus.id, canonical=True)]


def graph_chunk(row: ChunkRow) -> GraphChunk:
    chunk = row.chunk
    return GraphChunk(chunk.id, chunk.document_id, chunk.view_id, chunk.position, " ".join(row.title_names), row.terms)


class RecordContract:
    @pytest.fixture
    async def corpus(self, record: Record) -> Corpus:
        return await record.corpora.create("books", SETTINGS)

    # --- corpora

    async def test_a_corpus_is_found_by_name_and_by_id(self, record: Record, corpus: Corpus) -> None:
        assert await record.corpora.get("books") == corpus
        assert await record.corpora.by_id(corpus.id) == corpus
        assert corpus.settings == SETTINGS
        assert corpus.generation == 0

    async def test_a_name_is_taken_once(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(Conflict, match="books"):
            await record.corpora.create("books", SETTINGS)

    @pytest.mark.parametrize("name", ["", "Books", "../etc", "a b", "-a", "a" * 64, "bücher"])
    async def test_a_bad_name_is_refused(self, record: Record, name: str) -> None:
        with pytest.raises(InvalidInput, match="not valid"):
            await record.corpora.create(name, SETTINGS)

    async def test_a_missing_corpus_is_named_with_those_there_are(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(NotFound, match=r"'nope'.*books"):
            await record.corpora.get("nope")

    async def test_rename_keeps_the_content(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        renamed = await record.corpora.rename("books", "library")
        assert renamed.id == corpus.id
        assert (await record.corpora.counts(renamed.id)).chunks == 1
        with pytest.raises(NotFound):
            await record.corpora.get("books")

    async def test_drop_hides_at_once_and_frees_the_name(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.intake.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        job = await record.corpora.drop("books")
        assert (job.kind, job.state) == (JobKind.DROP, JobState.QUEUED)
        assert await record.corpora.all() == []
        again = await record.corpora.create("books", SETTINGS)
        assert again.id != corpus.id
        assert await claim_all(record, corpus) == []
        assert await record.work.dropped() == [corpus.id]
        assert corpus.id in await record.work.waiting()
        await record.work.forget(corpus.id)
        assert (await record.jobs.get(job.id)).state is JobState.DONE
        assert await record.work.dropped() == []
        assert await export(record, corpus) == []
        assert (await record.corpora.get("books")).id == again.id

    # --- adding

    async def test_adding_makes_readable(self, record: Record, other: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Ada", "Bob"])], year=1843)
        document = (await other.library.documents(corpus.id, limit=10)).data[0]
        assert (document.key, document.state, document.readable, document.chunks) == (
            "a",
            RevisionState.INDEXED,
            True,
            2,
        )
        assert document.metadata == {"year": 1843}
        chunks = await other.library.chunks_of(corpus.id, document.id)
        assert [c.text for c in chunks] == ["one", "two"]
        assert chunks[0].span == Span(start=0, end=3)
        by_view = await other.library.chunks_by_view(corpus.id, [c.view_id for c in chunks] + ["0" * 32])
        assert set(by_view) == {c.view_id for c in chunks}
        counts = await other.corpora.counts(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities, counts.mentions) == (1, 2, 2, 3)

    async def test_adding_twice_is_adding_once(self, record: Record, corpus: Corpus) -> None:
        first = await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        again = await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert (await record.jobs.get(first.job.id)).state is JobState.DONE
        assert again.job.counts == {"queued": 1}, "who asks last waits for it"
        [claim] = await claim_all(record, corpus)
        working = await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert working.job.state is JobState.RUNNING
        await record.work.commit([commit_of(claim, [("one", [])])], grace=0)
        assert (await record.jobs.get(working.job.id)).counts == {"indexed": 1}
        done = await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert done.documents[0].unchanged
        assert (done.job.state, done.job.counts) == (JobState.DONE, {"unchanged": 1})
        assert await claim_all(record, corpus) == []

    async def test_a_commit_again_changes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        before = await export(record, corpus)
        await record.intake.enqueue(corpus.id, [revision("a", "other bytes, same passages")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        outcome = await record.work.commit([commit_of(claim, [("one", ["Ada"])])], grace=0)
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == ()
        after = await export(record, corpus)
        assert [r for r in after if r["kind"] != "document"] == [r for r in before if r["kind"] != "document"]

    async def test_the_same_text_twice_in_a_document_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", []), ("one", [])])
        assert (await record.corpora.counts(corpus.id)).chunks == 2

    async def test_the_same_text_in_two_documents_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        assert (await record.corpora.counts(corpus.id)).chunks == 1
        assert (await record.corpora.counts(corpus.id)).entities == 1

    async def test_a_key_twice_in_one_call_is_refused(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(InvalidInput, match="'a'"):
            await record.intake.enqueue(corpus.id, [revision("a"), revision("a", "y")], OnConflict.REPLACE)
        assert (await record.library.documents(corpus.id, limit=10)).data == ()

    async def test_on_conflict_error_is_atomic(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(Conflict, match="a"):
            await record.intake.enqueue(corpus.id, [revision("b"), revision("a", "new")], OnConflict.ERROR)
        assert [d.key for d in (await record.library.documents(corpus.id, limit=10)).data] == ["a"]
        assert await claim_all(record, corpus) == []

    async def test_on_conflict_skip_keeps_what_is_there(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        enqueued = await record.intake.enqueue(corpus.id, [revision("a", "new"), revision("b")], OnConflict.SKIP)
        assert [(d.key, d.skipped) for d in enqueued.documents] == [("a", True), ("b", False)]

    async def test_an_empty_call_is_a_finished_job(self, record: Record, corpus: Corpus) -> None:
        assert (await record.intake.enqueue(corpus.id, [], OnConflict.REPLACE)).job.state is JobState.DONE

    async def test_an_open_job_takes_more(self, record: Record, corpus: Corpus) -> None:
        job_id = await record.intake.open_job(corpus.id, JobKind.INGEST)
        for key in "ab":
            await record.intake.enqueue(corpus.id, [revision(key)], OnConflict.REPLACE, job_id=job_id)
        await record.work.commit([commit_of(c, [("t", [])]) for c in await claim_all(record, corpus)], grace=0)
        assert not (await record.jobs.get(job_id)).state.final
        job = await record.intake.close_job(job_id)
        assert (job.state, job.counts) == (JobState.DONE, {"indexed": 2})
        assert job.started_at is not None
        assert job.finished_at is not None

    # --- replacing

    async def test_replacing_keeps_unchanged_chunks_and_drops_the_rest(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "knows", "Ada")])
        old = {c.text: c for c in await record.library.chunks_of(corpus.id, ids.document_id("a"))}
        await record.intake.enqueue(corpus.id, [revision("a", "new")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        readable = await record.library.chunks_of(corpus.id, ids.document_id("a"))
        assert [c.text for c in readable] == ["one", "two"], (
            "the current revision stays readable while the next is made"
        )
        outcome = await record.work.commit([commit_of(claim, [("three", ["Cyd"]), ("one", ["Ada"])])], grace=0)
        new = {c.text: c for c in await record.library.chunks_of(corpus.id, ids.document_id("a"))}
        assert new["one"].id == old["one"].id
        assert new["one"].position == 1
        assert set(new) == {"three", "one"}
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == (old["two"].view_id,)
        assert outcome.tombstone.entity_ids == (ids.entity_id("bob"),)
        assert len(outcome.tombstone.content_hashes) == 1
        assert (await record.corpora.counts(corpus.id)).entities == 2

    async def test_content_equals_that_of_the_survivors_alone(self, record: Record, corpus: Corpus) -> None:
        clean = await record.corpora.create("clean", SETTINGS)
        a = [("one", ["Ada", "ADA"]), ("two", ["Bob"])]
        b = [("three", ["ada", "Cyd"])]
        for target in (corpus, clean):
            await put(record, target, "b", b, facts=[("Cyd", "met", "ada")])
        await put(record, corpus, "a", a, facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "a", [("zero", ["Bob"]), *a])
        await put(record, corpus, "c", a)
        await delete(record, corpus, "c")
        await delete(record, corpus, "a")
        assert await export(record, corpus) == await export(record, clean)
        graph, expected = await record.graph.graph(corpus.id), await record.graph.graph(clean.id)
        assert told(graph[1]) == told(expected[1])

    async def test_the_newest_queued_revision_wins(self, record: Record, corpus: Corpus) -> None:
        first = await record.intake.enqueue(corpus.id, [revision("a", "1")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus)
        await record.intake.enqueue(corpus.id, [revision("a", "2")], OnConflict.REPLACE)
        assert (await record.jobs.get(first.job.id)).counts == {"cancelled": 1}
        assert await record.work.renew([late], lease_seconds=LEASE) == [late]
        outcome = await record.work.commit([commit_of(late, [("old", ["Old"])])], grace=0)
        assert outcome.fenced == (late,)
        [claim] = await claim_all(record, corpus)
        await record.work.commit([commit_of(claim, [("new", ["New"])])], grace=0)
        assert [c.text for c in await record.library.chunks_of(corpus.id, claim.document_id)] == ["new"]

    async def test_triples_are_told_with_names_and_the_chunks_that_assert_them(
        self, record: Record, corpus: Corpus
    ) -> None:
        met = ("Ada", "met", "Bob")
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[met, ("Bob", "saw", "Ada")])
        await put(record, corpus, "b", [("two", ["ADA", "Ada", "Bob"])], facts=[met])
        ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
        both = ids.triple_id(ada, "met", bob)
        rows = await record.library.triples(corpus.id, [both, "f" * 32])
        chunks = tuple(sorted([ids.chunk_id("a", "one", 0), ids.chunk_id("b", "two", 0)]))
        expected = TripleRow(
            subject_id=ada, subject="Ada", predicate="met", object_id=bob, object="Bob", chunk_ids=chunks
        )
        assert rows == {both: expected}
        assert await record.library.triples(corpus.id, []) == {}
        assert await record.library.triples("f" * 32, [both]) == {}
        await record.intake.delete_documents(corpus.id, [ids.document_id("a")])
        [left] = (await record.library.triples(corpus.id, [both, ids.triple_id(bob, "saw", ada)])).values()
        assert left.chunk_ids == (ids.chunk_id("b", "two", 0),)

    # --- deleting

    async def test_a_deleted_document_is_invisible_at_once(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
        [chunk] = await record.library.chunks_of(corpus.id, ids.document_id("a"))
        generation, _ = await record.graph.graph(corpus.id)
        job = await record.intake.delete_documents(corpus.id, [chunk.document_id])
        assert job.state is JobState.QUEUED
        library = record.library
        assert (await library.documents(corpus.id, limit=9)).data == ()
        assert await library.chunks(corpus.id, [chunk.id]) == {}
        assert await library.chunks_by_view(corpus.id, [chunk.view_id]) == {}
        assert await library.refs(corpus.id, [chunk.document_id]) == {}
        assert await library.facts_of(corpus.id, [chunk.id]) == []
        ada = ids.entity_id("ada")
        assert await library.triples(corpus.id, [ids.triple_id(ada, "is", ada)]) == {}
        assert await library.matching(corpus.id, parse_filter({})) == frozenset()
        with pytest.raises(NotFound):
            await library.document(corpus.id, chunk.document_id)
        changes = await record.graph.changes(corpus.id, generation)
        assert changes is not None
        assert list(changes.removed) == [chunk.id]
        assert told(changes.added) == ([], [], [], [], [])
        assert (await record.corpora.counts(corpus.id)).chunks == 0

    async def test_deleting_removes_every_row(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "b", [("two", ["Bob"])])
        await delete(record, corpus, "a")
        rows = await export(record, corpus)
        assert {r["name"] for r in rows if r["kind"] == "entity"} == {"bob"}
        assert not [r for r in rows if r["kind"] == "fact"]
        assert (await record.jobs.all())[0].counts == {"deleted": 1}

    async def test_a_document_added_again_while_its_deletion_waits(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.intake.delete_documents(corpus.id, [ids.document_id("a")])
        await put(record, corpus, "a", [("one", ["Ada"])])
        assert [c.text for c in await record.library.chunks_of(corpus.id, ids.document_id("a"))] == ["one"]
        _, rows = await record.graph.graph(corpus.id)
        assert len(rows.chunks) == 1

    async def test_deleting_what_is_not_there_deletes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(NotFound):
            await record.intake.delete_documents(corpus.id, [ids.document_id("a"), "f" * 32])
        assert len((await record.library.documents(corpus.id, limit=9)).data) == 1

    async def test_a_deletion_is_not_cancelled(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        job = await record.intake.delete_documents(corpus.id, [ids.document_id("a")])
        await record.jobs.cancel(job.id)
        [claim] = await claim_all(record, corpus)
        assert claim.deletion

    # --- leases and fencing

    async def test_a_claim_is_single(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision(f"d{i}") for i in range(50)], OnConflict.REPLACE)
        takes = [
            (record if i % 2 else other).work.claim(
                corpus.id, f"w{i}", lease_seconds=LEASE, max_bytes=10**9, max_documents=7
            )
            for i in range(10)
        ]
        claims = [claim.key for batch in await asyncio.gather(*takes) for claim in batch]
        assert sorted(claims) == sorted(f"d{i}" for i in range(50))

    async def test_claims_come_in_order_up_to_the_size(self, record: Record, corpus: Corpus) -> None:
        sizes = [60, 60, 500, 10]
        revisions = [revision(f"d{i}", size=size) for i, size in enumerate(sizes)]
        await record.intake.enqueue(corpus.id, revisions, OnConflict.REPLACE)
        batches = []
        while batch := await record.work.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=128):
            batches.append([claim.key for claim in batch])
        assert batches == [["d0", "d1"], ["d2"], ["d3"]]

    async def test_a_late_worker_changes_nothing(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus, "late", lease=0.01)
        await asyncio.sleep(0.05)
        assert await other.work.waiting() == [corpus.id]
        [claim] = await claim_all(other, corpus, "next")
        assert claim.epoch > late.epoch
        staged = Staged(claim=late, extract_hash="h", extraction=Extraction())
        await record.work.stage([staged])
        assert await record.work.staged(corpus.id, [(late.document_id, "h")]) == {}
        await record.work.fail(late, "too late")
        await record.work.release([late])
        assert await record.work.advance([late], RevisionState.WRITING) == [late]
        outcome = await record.work.commit([commit_of(late, [("late", ["Late"])])], grace=0)
        assert outcome.fenced == (late,)
        assert (await record.corpora.counts(corpus.id)).chunks == 0
        done = await other.work.commit([commit_of(claim, [("next", ["Next"])])], grace=0)
        assert done.fenced == ()
        assert (await record.corpora.counts(corpus.id)).chunks == 1

    async def test_a_worker_that_is_late_by_a_whole_life_changes_nothing(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        """The document went and came again meanwhile: its revision is another one, whatever its number."""
        await record.intake.enqueue(corpus.id, [revision("a", "one")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus)
        await delete(record, corpus, "a")
        await record.intake.enqueue(corpus.id, [revision("a", "two")], OnConflict.REPLACE)
        [claim] = await claim_all(other, corpus)
        outcome = await record.work.commit([commit_of(late, [("of the late one", [])])], grace=0)
        assert outcome.fenced == (late,)
        await other.work.commit([commit_of(claim, [("of the new one", [])])], grace=0)
        [chunk] = await record.library.chunks_of(corpus.id, claim.document_id)
        assert chunk.text == "of the new one"

    async def test_a_renewed_lease_holds(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus, lease=0.01)
        assert await record.work.renew([claim], lease_seconds=LEASE) == []
        await asyncio.sleep(0.05)
        assert await claim_all(record, corpus, "other") == []

    async def test_released_work_is_claimable_at_once(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        for _ in range(20):  # handing back is no failed attempt
            claims = await claim_all(record, corpus)
            assert len(claims) == 1
            await record.work.release(claims)

    async def test_expire_ends_every_lease(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [first, _] = await claim_all(record, corpus)
        assert await record.work.expire() == 2
        assert await record.work.renew([first], lease_seconds=LEASE) == [first]
        assert len(await claim_all(record, corpus)) == 2

    async def test_what_kills_its_workers_comes_alone_and_then_fails(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        for _ in range(4):
            assert len(await claim_all(record, corpus)) == 2
            await record.work.expire()
        for _ in range(8):
            assert len(await claim_all(record, corpus)) == 1
            await record.work.expire()
        assert await claim_all(record, corpus) == []
        job = (await record.jobs.all())[0]
        assert (job.state, job.counts) == (JobState.FAILED, {"failed": 2})
        assert "8 times" in job.failures[0][1]

    async def test_a_failure_keeps_the_current_revision(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.intake.enqueue(corpus.id, [revision("a", "bad")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.work.fail(claim, "not UTF-8 at byte 3")
        document = await record.library.document(corpus.id, claim.document_id)
        assert (document.state, document.readable) == (RevisionState.FAILED, True)
        assert document.reason == "not UTF-8 at byte 3"
        assert [c.text for c in await record.library.chunks_of(corpus.id, claim.document_id)] == ["one"]
        job = await record.intake.retry(corpus.id, claim.document_id)
        assert job.counts == {"queued": 1}
        assert len(await claim_all(record, corpus)) == 1

    async def test_only_failures_are_retried(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(Conflict, match="indexed"):
            await record.intake.retry(corpus.id, ids.document_id("a"))
        with pytest.raises(NotFound):
            await record.intake.retry(corpus.id, "f" * 32)

    async def test_a_failed_submission_may_be_sent_again(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.work.fail(claim, "no")
        again = await record.intake.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert not again.documents[0].unchanged

    async def test_cancel_fences_and_keeps_what_is_finished(self, record: Record, corpus: Corpus) -> None:
        enqueued = await record.intake.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [first, second] = await claim_all(record, corpus)
        await record.work.commit([commit_of(first, [("one", [])])], grace=0)
        job = await record.jobs.cancel(enqueued.job.id)
        assert (job.state, job.counts) == (JobState.CANCELLED, {"cancelled": 1, "indexed": 1})
        outcome = await record.work.commit([commit_of(second, [("two", [])])], grace=0)
        assert outcome.fenced == (second,)
        assert (await record.corpora.counts(corpus.id)).documents == 1

    async def test_one_fenced_claim_does_not_hold_up_the_others(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [a, b] = await claim_all(record, corpus)
        await record.intake.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        outcome = await record.work.commit([commit_of(a, [("a", [])]), commit_of(b, [("b", [])])], grace=0)
        assert outcome.fenced == (a,)
        assert (await record.corpora.counts(corpus.id)).documents == 1

    # --- extractions

    async def test_extractions_outlive_a_crash_and_not_their_document(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        extraction = Extraction(
            entities=(Surface(form="Søren", count=2),),
            triples=(Triple(subject="Søren", predicate="lives in", object="København"),),
            malformed=1,
        )
        one = commit_of(claim, [("one", ["Søren"])])
        kept = one.chunks[0].extract_hash
        await record.work.stage([Staged(claim=claim, extract_hash=h, extraction=extraction) for h in (kept, "unused")])
        await record.work.expire()
        keys = [(claim.document_id, kept), (claim.document_id, "unused"), ("f" * 32, kept)]
        assert set(await record.work.staged(corpus.id, keys)) == set(keys[:2])
        assert (await record.work.staged(corpus.id, keys))[keys[0]] == extraction
        [again] = await claim_all(record, corpus)
        await record.work.commit([commit_of(again, [("one", ["Søren"])])], grace=0)
        assert set(await record.work.staged(corpus.id, keys)) == {keys[0]}
        await delete(record, corpus, "a")
        assert await record.work.staged(corpus.id, keys) == {}

    # --- tombstones

    async def test_a_tombstone_comes_back_until_it_is_cleared(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
        [chunk] = await record.library.chunks_of(corpus.id, ids.document_id("a"))
        await record.intake.delete_documents(corpus.id, [chunk.document_id])
        outcome = await record.work.commit([Commit(claim=c) for c in await claim_all(record, corpus)], grace=0)
        [tombstone] = await record.work.tombstones(corpus.id)
        assert tombstone == outcome.tombstone
        assert tombstone.view_ids == (chunk.view_id,)
        assert tombstone.entity_ids == (ids.entity_id("ada"),)
        assert len(tombstone.triple_ids) == 1
        assert len(tombstone.content_hashes) == 1
        await record.work.clear([tombstone])
        assert await record.work.tombstones(corpus.id) == []

    async def test_a_tombstone_spares_what_came_back(self, record: Record, corpus: Corpus) -> None:
        passages = [("one", ["Ada"])]
        await put(record, corpus, "a", passages)
        await delete(record, corpus, "a")
        await record.intake.enqueue(corpus.id, [revision("a", repr((passages, ())))], OnConflict.REPLACE)
        assert await record.work.tombstones(corpus.id) == [], "not while its document is in work"
        [claim] = await claim_all(record, corpus)
        await record.work.commit([commit_of(claim, passages)], grace=0)
        [tombstone] = await record.work.tombstones(corpus.id)
        assert tombstone.view_ids
        assert tombstone.entity_ids
        left = await record.work.unnamed(tombstone)
        assert left == Tombstone(id=tombstone.id, corpus_id=corpus.id)

    async def test_unnamed_is_what_this_corpus_does_not_name(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
        [chunk] = await record.library.chunks_of(corpus.id, ids.document_id("a"))
        ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
        met = ids.triple_id(ada, "met", bob)
        content = revision("a", repr(([("one", ["Ada", "Bob"])], [("Ada", "met", "Bob")]))).content_hash
        listed = Tombstone(
            id=7,
            corpus_id=corpus.id,
            view_ids=("e" * 32, chunk.view_id),
            entity_ids=(ada, "d" * 32),
            triple_ids=(met, "c" * 32),
            content_hashes=("b" * 64, content),
        )
        assert await other.work.unnamed(listed) == Tombstone(
            id=7,
            corpus_id=corpus.id,
            view_ids=("e" * 32,),
            entity_ids=("d" * 32,),
            triple_ids=("c" * 32,),
            content_hashes=("b" * 64,),
        )
        elsewhere = await record.corpora.create("elsewhere", SETTINGS)
        nothing = replace(listed, corpus_id=elsewhere.id)
        assert await other.work.unnamed(nothing) == nothing

    async def test_a_tombstone_is_not_due_before_its_time(self, record: Record, corpus: Corpus) -> None:
        await record.work.bury(Tombstone(id=0, corpus_id=corpus.id, view_ids=("e" * 32,)), [], grace=3600)
        assert await record.work.tombstones(corpus.id) == []
        late = Tombstone(
            id=0, corpus_id=corpus.id, view_ids=("d" * 32,), entity_ids=("c" * 32,), triple_ids=("b" * 32,)
        )
        await record.work.bury(late, [], grace=0)
        [tombstone] = await record.work.tombstones(corpus.id)
        assert replace(tombstone, id=0) == late

    # --- names, synonyms

    async def test_the_display_name_is_the_most_frequent_surviving_form(self, record: Record, corpus: Corpus) -> None:
        ada = ids.entity_id("ada")
        await put(record, corpus, "a", [("one", ["ADA"]), ("two", ["ADA"])])
        await put(record, corpus, "b", [("three", ["Ada"])])
        assert (await record.library.entities(corpus.id, [ada]))[ada].display == "ADA"
        await put(record, corpus, "a", [("one", ["ADA"])])
        assert (await record.library.entities(corpus.id, [ada]))[ada].display == "ADA", "ties go by code point"
        await delete(record, corpus, "a")
        assert (await record.library.entities(corpus.id, [ada]))[ada].display == "Ada"

    async def test_names_in_any_script_stay_apart(self, record: Record, corpus: Corpus) -> None:
        names = ["北京大学", "北京", "Москва", "Søren", "Soren", "C++", "C#", "C", "القاهرة", "Straße"]
        await put(record, corpus, "a", [("one", names)])
        found = await record.library.entities(corpus.id, [ids.entity_id(normalise(n)) for n in names])
        assert {e.display for e in found.values()} == set(names)

    async def test_synonyms_join_entities_that_exist(self, record: Record, corpus: Corpus) -> None:
        ada, bob = sorted(ids.entity_id(n) for n in ("ada", "bob"))
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        pair = Synonym(first_id=ada, second_id=bob, score=0.875)
        ghost = Synonym(first_id=ada, second_id="f" * 32, score=0.9)
        await record.work.commit([commit_of(claim, [("one", ["Ada", "Bob"])])], [pair, ghost], grace=0)
        generation, rows = await record.graph.graph(corpus.id)
        assert told(rows).synonyms == [(ada, bob, 0.875)]
        await delete(record, corpus, "a")
        assert told((await record.graph.graph(corpus.id))[1]).synonyms == []
        assert generation < (await record.graph.graph(corpus.id))[0]

    async def test_entities_that_came_while_another_committed_are_unsettled(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "old", [("zero", ["Old"])])
        seen = await record.graph.generation(corpus.id)
        await record.intake.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        first, second = await claim_all(record, corpus)
        outcome = await record.work.commit([commit_of(first, [("one", ["Ada", "Old"])])], grace=3600, seen=seen)
        assert outcome.unsettled == (), "nobody came between"
        later = [commit_of(second, [("two", ["Ada Byron", "Bob", "Old"])])]
        outcome = await other.work.commit(later, grace=0, seen=seen)
        names = tuple(sorted(ids.entity_id(name) for name in ("ada byron", "bob")))
        assert outcome.unsettled == names, "old ones are not looked for again"
        assert await record.work.unsettled(corpus.id) == list(names)
        assert corpus.id in await record.work.waiting()
        first_id, second_id = sorted((ids.entity_id("ada"), ids.entity_id("ada byron")))
        pair = Synonym(first_id=first_id, second_id=second_id, score=0.875)
        ghost = Synonym(first_id=first_id, second_id="f" * 32, score=0.9)
        before, _ = await other.graph.graph(corpus.id)
        await record.work.settle(corpus.id, outcome.unsettled, [pair, ghost])
        assert await record.work.unsettled(corpus.id) == []
        changes = await other.graph.changes(corpus.id, before)
        assert changes is not None
        assert changes.generation > before
        assert told(changes.added).synonyms == [(first_id, second_id, 0.875)]
        assert told((await record.graph.graph(corpus.id))[1]).synonyms == [(first_id, second_id, 0.875)]

    async def test_what_is_unsettled_waits_for_its_worker_and_goes_with_its_entity(
        self, record: Record, corpus: Corpus
    ) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        commit = commit_of((await claim_all(record, corpus))[0], [("one", ["Ada"])])
        outcome = await record.work.commit([commit], grace=3600, seen=-1)
        assert outcome.unsettled == (ids.entity_id("ada"),)
        assert await record.work.unsettled(corpus.id) == [], "its worker is at it"
        await record.intake.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        commit = commit_of((await claim_all(record, corpus))[0], [("two", ["Bob"])])
        await record.work.commit([commit], grace=0, seen=-1)
        assert await record.work.unsettled(corpus.id) == [ids.entity_id("bob")]
        await delete(record, corpus, "b")
        assert await record.work.unsettled(corpus.id) == []
        await record.work.clear(await record.work.tombstones(corpus.id))
        assert corpus.id not in await record.work.waiting()

    # --- generations and changes

    async def test_changes_lead_from_one_generation_to_the_next(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        start, _ = await other.graph.graph(corpus.id)
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "met", "Ada")])
        assert await other.graph.generation(corpus.id) > start
        changes = await other.graph.changes(corpus.id, start)
        assert changes is not None
        _, rows = await other.graph.graph(corpus.id)
        assert told(changes.added) == told(rows)
        await put(record, corpus, "a", [("three", ["Cyd"]), ("two", ["Bob"])])
        later = await other.graph.changes(corpus.id, changes.generation)
        assert later is not None
        assert len(later.removed) == 2, "one gone, one new, one untouched"
        assert len(later.added.chunks) == 1
        nothing = await other.graph.changes(corpus.id, later.generation)
        assert nothing is not None
        assert not nothing.removed

    async def test_the_graphs_chunks_carry_what_was_written_of_them(self, record: Record, corpus: Corpus) -> None:
        await record.intake.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, [("Ada knew two rivers", ["Ada"]), ("", [])])
        named, bare = commit.chunks[0], replace(commit.chunks[1], title_names=(), terms=b"")
        await record.work.commit([replace(commit, chunks=(named, bare))], grace=0)
        _, rows = await record.graph.graph(corpus.id)
        assert sorted(rows.chunks) == sorted(map(graph_chunk, (named, bare)))
        assert {chunk.terms for chunk in rows.chunks} == {extract_terms(["a"], "Ada knew two rivers").tobytes(), b""}

    @pytest.mark.parametrize("changed", ["position", "terms", "title_names"])
    async def test_a_chunk_that_is_kept_and_looks_different_is_a_change(
        self, record: Record, other: Record, corpus: Corpus, changed: str
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "met", "Bob")])
        generation, before = await other.graph.graph(corpus.id)
        exported = await export(record, corpus)
        await record.intake.enqueue(corpus.id, [revision("a", "again")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, [("one", ["Ada"]), ("two", ["Bob"])], [("Ada", "met", "Bob")])
        first, second = commit.chunks
        new = {
            "position": replace(first, chunk=replace(first.chunk, position=7)),
            "terms": replace(first, terms=extract_terms([], "other terms").tobytes()),
            "title_names": replace(first, title_names=(ids.entity_id("bob"),)),
        }[changed]
        outcome = await record.work.commit([replace(commit, chunks=(new, second))], grace=0)
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == outcome.tombstone.entity_ids == outcome.tombstone.triple_ids == ()
        changes = await other.graph.changes(corpus.id, generation)
        assert changes is not None
        assert (list(changes.removed), list(changes.added.chunks)) == ([first.chunk.id], [graph_chunk(new)])
        assert len(changes.added.mentions) == len(changes.added.facts) == 1, "its rows come along, as they were"
        _, after = await other.graph.graph(corpus.id)
        assert sorted(after.chunks) == sorted(map(graph_chunk, (new, second)))
        assert told(after)[1:] == told(before)[1:]
        again = await export(record, corpus)
        graphs = ("entity", "mention", "fact")
        assert [r for r in again if r["kind"] in graphs] == [r for r in exported if r["kind"] in graphs]

    async def test_an_unknown_generation_means_a_rebuild(self, record: Record, corpus: Corpus) -> None:
        assert await record.graph.changes(corpus.id, 10**6) is None

    async def test_the_graph_of_a_missing_corpus_is_not_found(self, record: Record) -> None:
        with pytest.raises(NotFound):
            await record.graph.generation("f" * 32)

    # --- isolation, filters, lists, missing things

    async def test_corpora_do_not_see_each_other(self, record: Record, corpus: Corpus) -> None:
        twin = await record.corpora.create("twin", SETTINGS)
        for target in (corpus, twin):
            await put(record, target, "a", [("one", ["Ada"])])
        assert await export(record, corpus) == await export(record, twin), "equal documents have equal ids"
        await delete(record, twin, "a")
        assert (await record.corpora.counts(corpus.id)).entities == 1
        assert (await record.corpora.counts(twin.id)).entities == 0

    async def test_filters_resolve_to_document_ids(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])], year=1990, tags=["x", "y"])
        await put(record, corpus, "b", [("two", [])], year=2001)
        await put(record, corpus, "c", [("three", [])])
        await record.intake.enqueue(corpus.id, [revision("waiting", year=1990)], OnConflict.REPLACE)

        async def keys(where: dict[str, Any]) -> set[str]:
            found = await record.library.matching(corpus.id, parse_filter(where))
            return {r.key for r in (await record.library.refs(corpus.id, found)).values()}

        assert await keys({}) == {"a", "b", "c"}
        assert await keys({"year": {"$gte": 1990}}) == {"a", "b"}
        assert await keys({"year": {"$exists": False}}) == {"c"}
        assert await keys({"year": {"$ne": 1990}}) == {"b", "c"}
        assert await keys({"tags": {"$contains": "x"}}) == {"a"}
        assert await keys({"$or": [{"$key": "c"}, {"year": 2001}]}) == {"b", "c"}
        assert await keys({"$not": {"year": 1990}}) == {"b", "c"}

    async def test_lists_page_by_key(self, record: Record, corpus: Corpus) -> None:
        keys = ["b", "a", "Z", "ä", "北"]
        await record.intake.enqueue(corpus.id, [revision(k) for k in keys], OnConflict.REPLACE)
        seen, cursor = [], None
        while True:
            page = await record.library.documents(corpus.id, limit=2, cursor=cursor)
            seen += [d.key for d in page.data]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == sorted(keys)
        page = await record.library.documents(corpus.id, limit=9, state=RevisionState.INDEXED)
        assert page.data == ()
        assert [d.key for d in (await record.library.documents(corpus.id, limit=9, key="a")).data] == ["a"]

    async def test_missing_things(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(NotFound):
            await record.jobs.get("f" * 32)
        with pytest.raises(NotFound):
            await record.library.document(corpus.id, "f" * 32)
        assert await record.library.chunks(corpus.id, ["f" * 32]) == {}
        assert await record.library.chunks_of(corpus.id, "f" * 32) == []
        assert await record.library.entities(corpus.id, []) == {}
        assert await record.work.claim("f" * 32, "w", lease_seconds=LEASE, max_bytes=1) == []

    async def test_ten_thousand_documents(self, record: Record, corpus: Corpus) -> None:
        keys = [f"d{i:05}" for i in range(10_000)]
        await record.intake.enqueue(corpus.id, [revision(k) for k in keys], OnConflict.REPLACE)
        claims = await claim_all(record, corpus)
        assert len(claims) == len(keys)
        await record.work.commit([commit_of(c, [(c.key, ["Ada", c.key])]) for c in claims], grace=0)
        counts = await record.corpora.counts(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities) == (10_000, 10_000, 10_001)
        await record.intake.delete_documents(corpus.id, [ids.document_id(k) for k in keys])
        await record.work.commit([Commit(claim=c) for c in await claim_all(record, corpus)], grace=0)
        assert await export(record, corpus) == []

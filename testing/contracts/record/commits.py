"""The contract of the record about commits: what they write, replace, keep and delete."""

from dataclasses import replace

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState, Span
from core.filters import parse_filter
from core.ports.record import Commit, Record
from testing.record import RecordFixtures, claim_all, commit_of, delete, export, put, revision

__all__ = ["CommitsContract"]


class CommitsContract(RecordFixtures):
    async def test_adding_makes_readable(self, record: Record, other: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Ada", "Bob"])], year=1843)
        document = (await other.documents.list(corpus.id, limit=10)).data[0]
        assert (document.key, document.state, document.readable, document.chunks) == (
            "a",
            RevisionState.INDEXED,
            True,
            2,
        )
        assert document.metadata == {"year": 1843}
        chunks = await other.contents.get_chunks_of(corpus.id, document.id)
        assert [c.text for c in chunks] == ["one", "two"]
        assert chunks[0].span == Span(start=0, end=3)
        by_view = await other.contents.get_chunks_by_view(corpus.id, [c.view_id for c in chunks] + ["0" * 32])
        assert set(by_view) == {c.view_id for c in chunks}
        counts = await other.corpora.count(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities, counts.mentions) == (1, 2, 2, 3)

    async def test_found_metadata_join_those_of_the_sender(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a", year=1843)], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        found = {"author": "Ada", "year": 1999}
        commit = replace(commit_of(claim, [("one", [])]), found_metadata=found)
        await record.commits.commit([commit], grace=0)
        document = (await other.documents.list(corpus.id, limit=10)).data[0]
        assert document.metadata == {"author": "Ada", "year": 1843}
        query = parse_filter({"author": "Ada", "year": 1843})
        assert await other.documents.match(corpus.id, query) == frozenset({document.id})
        [row] = [r async for r in other.exporter.rows(corpus.id, canonical=False) if r["kind"] == "document"]
        assert (row["metadata"], row["given_metadata"]) == (document.metadata, {"year": 1843})
        again = await record.submissions.enqueue(corpus.id, [revision("a", year=1843)], OnConflict.REPLACE)
        assert again.job.counts == {"unchanged": 1}

    async def test_a_commit_again_changes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        before = await export(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "other bytes, same passages")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        outcome = await record.commits.commit([commit_of(claim, [("one", ["Ada"])])], grace=0)
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == ()
        after = await export(record, corpus)
        assert [r for r in after if r["kind"] != "document"] == [r for r in before if r["kind"] != "document"]

    async def test_the_same_text_twice_in_a_document_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", []), ("one", [])])
        assert (await record.corpora.count(corpus.id)).chunks == 2

    async def test_the_same_text_in_two_documents_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        assert (await record.corpora.count(corpus.id)).chunks == 1
        assert (await record.corpora.count(corpus.id)).entities == 1

    async def test_replacing_keeps_unchanged_chunks_and_drops_the_rest(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "knows", "Ada")])
        old = {c.text: c for c in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
        await record.submissions.enqueue(corpus.id, [revision("a", "new")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        readable = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
        assert [c.text for c in readable] == ["one", "two"], (
            "the current revision stays readable while the next is made"
        )
        outcome = await record.commits.commit([commit_of(claim, [("three", ["Cyd"]), ("one", ["Ada"])])], grace=0)
        new = {c.text: c for c in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
        assert new["one"].id == old["one"].id
        assert new["one"].position == 1
        assert set(new) == {"three", "one"}
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == (old["two"].view_id,)
        assert outcome.tombstone.entity_ids == (ids.entity_id("bob"),)
        assert len(outcome.tombstone.content_hashes) == 1
        assert (await record.corpora.count(corpus.id)).entities == 2

    async def test_one_fenced_claim_does_not_hold_up_the_others(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [a, b] = await claim_all(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        outcome = await record.commits.commit([commit_of(a, [("a", [])]), commit_of(b, [("b", [])])], grace=0)
        assert outcome.fenced == (a,)
        assert (await record.corpora.count(corpus.id)).documents == 1

    async def test_ten_thousand_documents(self, record: Record, corpus: Corpus) -> None:
        keys = [f"d{i:05}" for i in range(10_000)]
        await record.submissions.enqueue(corpus.id, [revision(k) for k in keys], OnConflict.REPLACE)
        claims = await claim_all(record, corpus)
        assert len(claims) == len(keys)
        await record.commits.commit([commit_of(c, [(c.key, ["Ada", c.key])]) for c in claims], grace=0)
        counts = await record.corpora.count(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities) == (10_000, 10_000, 10_001)
        await record.submissions.delete_documents(corpus.id, [ids.document_id(k) for k in keys])
        await record.commits.commit([Commit(claim=c) for c in await claim_all(record, corpus)], grace=0)
        assert await export(record, corpus) == []

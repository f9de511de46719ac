"""The contract of the record about changing and deleting documents that exist: amendments, and deletions of what is
there.
"""

from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.filters import parse_filter
from core.jobs import JobKind, JobState
from core.ports.record import Commit, NewRevision, Record
from testing.graph_rows import told
from testing.record import RecordFixtures, claim_all, commit_of, export, put, revision

__all__ = ["ChangesContract"]


def dated(submitted: NewRevision) -> NewRevision:
    return replace(submitted, fingerprint="changed", metadata={**submitted.metadata, "year": 1843})


class ChangesContract(RecordFixtures):
    async def test_an_amendment_is_a_revision_with_the_same_content(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], lang="en")
        id = ids.document_id("a")
        before = await record.documents.get(corpus.id, id)
        amended = await record.submissions.amend(corpus.id, id, dated)
        assert (amended.job.kind, amended.job.counts) == (JobKind.INGEST, {"queued": 1})
        assert (await record.documents.get(corpus.id, id)).metadata == {"lang": "en"}, "until it is indexed"
        [claim] = await claim_all(record, corpus)
        assert (claim.content_hash, claim.metadata) == (before.content_hash, {"lang": "en", "year": 1843})
        await record.commits.commit([commit_of(claim, [("one", ["Ada"])])], grace=0)
        assert (await record.documents.get(corpus.id, id)).metadata == {"lang": "en", "year": 1843}
        assert (await record.jobs.get(amended.job.id)).state is JobState.DONE

    async def test_an_amendment_without_a_change_makes_no_revision(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        amended = await record.submissions.amend(corpus.id, ids.document_id("a"), lambda submitted: submitted)
        assert (amended.job.state, amended.job.counts) == (JobState.DONE, {"unchanged": 1})
        assert amended.documents[0].unchanged
        assert await claim_all(record, corpus) == []

    async def test_only_an_indexed_document_is_amended(self, record: Record, corpus: Corpus) -> None:
        id = ids.document_id("a")
        with pytest.raises(NotFound):
            await record.submissions.amend(corpus.id, id, dated)
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        with pytest.raises(Conflict, match="queued"):
            await record.submissions.amend(corpus.id, id, dated)
        jobs = await record.jobs.list()
        assert len(jobs) == 1, "a refused amendment leaves no job"
        await put(record, corpus, "a", [("one", [])])
        await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        with pytest.raises(Conflict):
            await record.submissions.amend(corpus.id, id, dated)
        await record.submissions.delete_documents(corpus.id, [id])
        with pytest.raises(NotFound):
            await record.submissions.amend(corpus.id, id, dated)

    async def test_what_exists_is_deleted_and_the_rest_named(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        await put(record, corpus, "b", [("two", [])])
        a, b, unknown = (ids.document_id(key) for key in ("a", "b", "unknown"))
        await record.submissions.delete_documents(corpus.id, [b])
        deletion = await record.submissions.delete_existing(corpus.id, [unknown, a, b, a])
        assert deletion.missing == (unknown, b)
        assert (deletion.job.kind, deletion.job.counts) == (JobKind.DELETE, {"queued": 1})
        assert await export(record, corpus) == []
        again = await record.submissions.delete_existing(corpus.id, [a])
        assert (again.missing, again.job.state, again.job.counts) == ((a,), JobState.DONE, {})
        with pytest.raises(NotFound):
            await record.submissions.delete_existing("f" * 32, [a])

    async def test_what_comes_again_while_it_is_deleted_can_be_deleted_again(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", [])])
        id = ids.document_id("a")
        for _ in range(2):
            await record.submissions.delete_documents(corpus.id, [id])
            await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        deletion = await record.submissions.delete_existing(corpus.id, [id])
        assert (deletion.missing, deletion.job.counts) == ((), {"queued": 1})
        await _finish_deletion(record, corpus)

    async def test_what_comes_again_while_it_is_deleted_is_listed_as_queued(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], lang="en")
        id = ids.document_id("a")
        await record.submissions.delete_documents(corpus.id, [id])
        newer = replace(revision("a", "newer"), title="Ada again", metadata={"year": 1843})
        await record.submissions.enqueue(corpus.id, [newer], OnConflict.REPLACE)
        document = await record.documents.get(corpus.id, id)
        assert (document.state, document.readable, document.chunks) == (RevisionState.QUEUED, False, 0)
        assert (document.title, document.metadata, document.size) == ("Ada again", {"year": 1843}, newer.size)
        assert document.content_hash == newer.content_hash
        for query in ({}, {"key": "a"}, {"state": RevisionState.QUEUED}, {"enabled": True}):
            assert (await record.documents.list(corpus.id, limit=9, **query)).data == (document,), query
        assert (await record.documents.list(corpus.id, limit=9, state=RevisionState.INDEXED)).data == ()
        assert await record.contents.get_chunks_of(corpus.id, id) == []
        assert await record.documents.get_refs(corpus.id, [id], enabled=None) == {}
        assert await record.documents.match(corpus.id, parse_filter({}), enabled=None) == frozenset()
        with pytest.raises(Conflict, match="queued"):
            await record.submissions.amend(corpus.id, id, dated)
        with pytest.raises(Conflict, match="queued"):
            await record.submissions.retry(corpus.id, id)
        [claim] = await claim_all(record, corpus)
        assert (await record.documents.get(corpus.id, id)).state.in_work
        await record.commits.commit([commit_of(claim, [("two", [])])], grace=0)
        again = await record.documents.get(corpus.id, id)
        assert (again.state, again.readable, again.chunks, again.metadata) == ("indexed", True, 1, {"year": 1843})

    async def test_queued_revisions_are_counted(self, record: Record, corpus: Corpus) -> None:
        assert await record.submissions.count_queued(corpus.id, at_most=5) == 0
        await record.submissions.enqueue(corpus.id, [revision(key) for key in "abc"], OnConflict.REPLACE)
        assert await record.submissions.count_queued(corpus.id, at_most=5) == 3
        assert await record.submissions.count_queued(corpus.id, at_most=2) == 2
        assert await record.submissions.count_queued("f" * 32, at_most=5) == 0
        assert len(await claim_all(record, corpus)) == 3
        assert await record.submissions.count_queued(corpus.id, at_most=5) == 0, "those in work do not wait"

    async def test_what_comes_again_while_it_is_deleted_can_be_disabled(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        id = ids.document_id("a")
        await record.submissions.delete_documents(corpus.id, [id])
        assert await record.submissions.set_enabled(corpus.id, [id], enabled=False) == frozenset()
        await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        generation, _ = await record.graph.graph(corpus.id)
        assert await record.submissions.set_enabled(corpus.id, [id], enabled=False) == {id}
        assert not (await record.documents.get(corpus.id, id)).enabled
        changes = await record.graph.changes(corpus.id, generation)
        assert changes is not None
        assert told(changes.added) == ([], [], [], [], [])
        await put(record, corpus, "a", [("one", ["Ada"])])
        assert not (await record.documents.get(corpus.id, id)).enabled
        assert await record.submissions.set_enabled(corpus.id, [id], enabled=True) == {id}
        assert [one.text for one in await record.contents.get_chunks_of(corpus.id, id)] == ["one"]

    async def test_a_cancelled_job_carries_out_the_deletions_that_it_superseded(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", [])])
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        again = await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        job = await record.jobs.cancel(again.job.id)
        assert (job.state.final, job.counts) == (False, {"cancelled": 1, "queued": 1})
        await _finish_deletion(record, corpus)
        job = await record.jobs.get(job.id)
        assert (job.state, job.counts) == (JobState.CANCELLED, {"cancelled": 1, "deleted": 1})

    async def test_a_cancelled_reindex_ends_at_once(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        reindex = await record.reindexing.start(corpus.id, corpus.settings)
        shadow, job = reindex.shadow_id, reindex.job_id
        await record.submissions.enqueue(shadow, [revision("a")], OnConflict.REPLACE, job_id=job)
        await record.submissions.delete_documents(shadow, [ids.document_id("a")])
        await record.submissions.enqueue(shadow, [revision("a", "newer")], OnConflict.REPLACE, job_id=job)
        assert (await record.jobs.cancel(job)).state is JobState.CANCELLED

    async def test_a_failed_document_whose_deletion_it_superseded_is_deleted(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", [])])
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        again = await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "unreadable")
        assert not (await record.jobs.get(again.job.id)).state.final
        await _finish_deletion(record, corpus)
        job = await record.jobs.get(again.job.id)
        assert (job.state, job.failures) == (JobState.FAILED, (("a", "unreadable"),))


async def _finish_deletion(record: Record, corpus: Corpus) -> None:
    """Commits the only claimable revision, a deletion, after which the record names no content."""
    [claim] = await claim_all(record, corpus)
    assert claim.deletion
    outcome = await record.commits.commit([Commit(claim=claim)], grace=0)
    assert outcome.tombstone is not None
    assert outcome.tombstone.content_hashes
    [tombstone] = [one for one in await record.tombstones.list_due(corpus.id) if one.id == outcome.tombstone.id]
    assert await record.tombstones.select_orphans(tombstone) == tombstone
    assert await claim_all(record, corpus) == []

"""The contract of the record about submissions, deletions and retries, and the jobs that they make."""

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.jobs import JobKind, JobState
from core.ports.record import NewRevision, Record
from testing.record import LEASE, RecordFixtures, claim_all, commit_of, put, revision

__all__ = ["IntakeContract"]


class IntakeContract(RecordFixtures):
    async def test_adding_twice_is_adding_once(self, record: Record, corpus: Corpus) -> None:
        first = await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        again = await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert (await record.jobs.get(first.job.id)).state is JobState.DONE
        assert again.job.counts == {"queued": 1}, "who asks last waits for it"
        [claim] = await claim_all(record, corpus)
        working = await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert working.job.state is JobState.RUNNING
        await record.commits.commit([commit_of(claim, [("one", [])])], grace=0)
        assert (await record.jobs.get(working.job.id)).counts == {"indexed": 1}
        done = await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert done.documents[0].unchanged
        assert (done.job.state, done.job.counts) == (JobState.DONE, {"unchanged": 1})
        assert await claim_all(record, corpus) == []

    async def test_a_key_twice_in_one_call_is_refused(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(InvalidInput, match="'a'"):
            await record.submissions.enqueue(corpus.id, [revision("a"), revision("a", "y")], OnConflict.REPLACE)
        assert (await record.documents.list(corpus.id, limit=10)).data == ()

    async def test_on_conflict_error_is_atomic(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(Conflict, match="a"):
            await record.submissions.enqueue(corpus.id, [revision("b"), revision("a", "new")], OnConflict.ERROR)
        assert [d.key for d in (await record.documents.list(corpus.id, limit=10)).data] == ["a"]
        assert await claim_all(record, corpus) == []

    async def test_on_conflict_error_takes_what_is_unchanged(self, record: Record, corpus: Corpus) -> None:
        submitted = revision("a", "x")
        await record.submissions.enqueue(corpus.id, [submitted], OnConflict.ERROR)
        unfinished = await record.submissions.enqueue(corpus.id, [submitted], OnConflict.ERROR)
        assert unfinished.job.counts == {"queued": 1}
        [claim] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, [("one", [])])], grace=0)
        done = await record.submissions.enqueue(corpus.id, [submitted, revision("b")], OnConflict.ERROR)
        assert [(d.key, d.unchanged) for d in done.documents] == [("a", True), ("b", False)]
        assert done.job.counts == {"unchanged": 1, "queued": 1}

    async def test_on_conflict_skip_keeps_what_is_there(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        enqueued = await record.submissions.enqueue(corpus.id, [revision("a", "new"), revision("b")], OnConflict.SKIP)
        assert [(d.key, d.skipped) for d in enqueued.documents] == [("a", True), ("b", False)]

    async def test_an_empty_call_is_a_finished_job(self, record: Record, corpus: Corpus) -> None:
        assert (await record.submissions.enqueue(corpus.id, [], OnConflict.REPLACE)).job.state is JobState.DONE

    async def test_an_open_job_takes_more(self, record: Record, corpus: Corpus) -> None:
        job_id = await record.submissions.open_job(corpus.id, JobKind.INGEST)
        for key in "ab":
            await record.submissions.enqueue(corpus.id, [revision(key)], OnConflict.REPLACE, job_id=job_id)
        await record.commits.commit([commit_of(c, [("t", [])]) for c in await claim_all(record, corpus)], grace=0)
        assert not (await record.jobs.get(job_id)).state.final
        job = await record.submissions.close_job(job_id)
        assert (job.state, job.counts) == (JobState.DONE, {"indexed": 2})
        assert job.started_at is not None
        assert job.finished_at is not None

    async def test_what_is_unchanged_can_be_asked_beforehand(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "same", [("one", [])])
        await record.submissions.enqueue(corpus.id, [revision("waiting")], OnConflict.REPLACE)
        page = await record.documents.list(corpus.id, limit=9)
        assert {document.key for document in page.data} == {"same", "waiting"}
        same = revision("same", repr(([("one", [])], ()))).fingerprint
        asked = {"same": same, "waiting": revision("waiting").fingerprint, "new": "x"}
        assert await record.submissions.find_unchanged(corpus.id, asked) == {"same"}
        assert await record.submissions.find_unchanged(corpus.id, {"same": "other"}) == frozenset()
        await record.submissions.delete_documents(corpus.id, [ids.document_id("same")])
        assert await record.submissions.find_unchanged(corpus.id, asked) == frozenset()

    async def test_the_newest_queued_revision_wins(self, record: Record, corpus: Corpus) -> None:
        first = await record.submissions.enqueue(corpus.id, [revision("a", "1")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "2")], OnConflict.REPLACE)
        assert (await record.jobs.get(first.job.id)).counts == {"cancelled": 1}
        assert await record.claims.renew([late], lease_seconds=LEASE) == [late]
        outcome = await record.commits.commit([commit_of(late, [("old", ["Old"])])], grace=0)
        assert outcome.fenced == (late,)
        [claim] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, [("new", ["New"])])], grace=0)
        assert [c.text for c in await record.contents.get_chunks_of(corpus.id, claim.document_id)] == ["new"]

    async def test_a_document_added_again_while_its_deletion_waits(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        await put(record, corpus, "a", [("one", ["Ada"])])
        assert [c.text for c in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))] == ["one"]
        _, rows = await record.graph.graph(corpus.id)
        assert len(rows.chunks) == 1

    async def test_deleting_what_is_not_there_deletes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(NotFound):
            await record.submissions.delete_documents(corpus.id, [ids.document_id("a"), "f" * 32])
        assert len((await record.documents.list(corpus.id, limit=9)).data) == 1

    async def test_only_failures_are_retried(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        with pytest.raises(Conflict, match="indexed"):
            await record.submissions.retry(corpus.id, ids.document_id("a"))
        with pytest.raises(NotFound):
            await record.submissions.retry(corpus.id, "f" * 32)

    async def test_a_retry_is_refused_by_its_check(self, record: Record, corpus: Corpus) -> None:
        submitted = revision("a", "x", team="b")
        job = (await record.submissions.enqueue(corpus.id, [submitted], OnConflict.REPLACE)).job
        await record.jobs.cancel(job.id)

        def refuse(found: NewRevision) -> None:
            assert found == submitted
            raise Forbidden("not this one")

        with pytest.raises(Forbidden):
            await record.submissions.retry(corpus.id, ids.document_id("a"), check=refuse)
        assert await claim_all(record, corpus) == []
        await record.submissions.retry(corpus.id, ids.document_id("a"), check=lambda _: None)
        assert len(await claim_all(record, corpus)) == 1

    async def test_a_failed_submission_may_be_sent_again(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "no")
        again = await record.submissions.enqueue(corpus.id, [revision("a", "x")], OnConflict.REPLACE)
        assert not again.documents[0].unchanged

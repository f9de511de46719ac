"""The contract of the record about the progress of jobs, in passages and in bytes."""

import asyncio

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.jobs import JobAhead, JobProgress
from core.ports.record import ClaimProgress, Record
from testing.record import RecordFixtures, claim_all, commit_of, revision

__all__ = ["ProgressContract"]


def _without_time(progress: JobProgress) -> tuple[int, int, int, int]:
    return progress.passages, progress.passages_total, progress.bytes, progress.bytes_total


class ProgressContract(RecordFixtures):
    async def test_a_document_in_work_counts_by_the_share_of_its_passages(self, record: Record, corpus: Corpus) -> None:
        revisions = [revision("a", size=1000), revision("b", size=500)]
        job = (await record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)).job
        assert _without_time(job.progress) == (0, 0, 0, 1500)
        assert job.progress.seconds_left is None
        [a, b] = await claim_all(record, corpus)
        await record.claims.report([ClaimProgress(claim=a, passages=4, done=0)])
        assert _without_time((await record.jobs.get(job.id)).progress) == (0, 4, 0, 1500)
        await record.claims.set_state([a, b], RevisionState.WRITING)
        await record.claims.report(
            [ClaimProgress(claim=a, passages=4, done=3), ClaimProgress(claim=b, passages=1, done=0)]
        )
        listed = next(one for one in await record.jobs.list() if one.id == job.id)
        assert _without_time(listed.progress) == (3, 5, 750, 1500)
        await record.commits.commit([commit_of(a, [("one", []), ("two", [])])], grace=0)
        assert _without_time((await record.jobs.get(job.id)).progress) == (2, 3, 1000, 1500)
        await record.claims.fail(b, "broken")
        ended = await record.jobs.get(job.id)
        assert _without_time(ended.progress) == (2, 2, 1500, 1500)
        assert ended.progress.seconds_left is None

    async def test_what_is_ahead_of_a_job(self, record: Record, corpus: Corpus) -> None:
        """Earlier documents of the corpus that are not of a larger class, less what is done of them."""
        other = await record.corpora.create("other", corpus.settings)
        await record.submissions.enqueue(other.id, [revision("z", size=1000)], OnConflict.REPLACE)
        enqueue = record.submissions.enqueue
        first = (await enqueue(corpus.id, [revision("a", size=1000), revision("b", size=500)], OnConflict.REPLACE)).job
        large = (await enqueue(corpus.id, [revision("c", size=1_000_000)], OnConflict.REPLACE)).job
        last = (await enqueue(corpus.id, [revision("d", size=10)], OnConflict.REPLACE)).job
        assert first.ahead == JobAhead(documents=0, bytes=0)
        assert large.ahead == last.ahead == JobAhead(documents=2, bytes=1500)
        [a] = await record.claims.claim(corpus.id, "w", lease_seconds=60, max_bytes=1, max_documents=1)
        await record.claims.report([ClaimProgress(claim=a, passages=4, done=3)])
        assert (await record.jobs.get(first.id)).ahead is None
        assert {one.id: one.ahead for one in await record.jobs.list()}[last.id] == JobAhead(documents=2, bytes=750)
        await record.jobs.cancel(first.id)
        assert (await record.jobs.get(last.id)).ahead == JobAhead(documents=0, bytes=0)
        assert (await record.jobs.cancel(last.id)).ahead is None

    async def test_progress_ends_with_its_claim(self, record: Record, corpus: Corpus) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a", size=100)], OnConflict.REPLACE)).job
        [late] = await claim_all(record, corpus, "late", lease=0.01)
        await record.claims.report([ClaimProgress(claim=late, passages=10, done=9)])
        await asyncio.sleep(0.05)
        [claim] = await claim_all(record, corpus, "next")
        assert _without_time((await record.jobs.get(job.id)).progress) == (0, 0, 0, 100)
        await record.claims.report([ClaimProgress(claim=late, passages=10, done=10)])
        assert _without_time((await record.jobs.get(job.id)).progress) == (0, 0, 0, 100), "a fenced claim tells nothing"
        await record.claims.report([ClaimProgress(claim=claim, passages=10, done=5)])
        assert _without_time((await record.jobs.get(job.id)).progress) == (5, 10, 50, 100)
        await record.claims.release([claim])
        assert _without_time((await record.jobs.get(job.id)).progress) == (0, 0, 0, 100)

    async def test_a_revision_takes_its_bytes_to_another_job(self, record: Record, corpus: Corpus) -> None:
        submitted = [revision("a", size=100)]
        first = (await record.submissions.enqueue(corpus.id, submitted, OnConflict.REPLACE)).job
        second = (await record.submissions.enqueue(corpus.id, submitted, OnConflict.REPLACE)).job
        assert _without_time((await record.jobs.get(first.id)).progress) == (0, 0, 0, 0)
        assert _without_time(second.progress) == (0, 0, 0, 100)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "broken")
        assert _without_time((await record.jobs.get(second.id)).progress) == (0, 0, 100, 100)
        again = await record.submissions.retry(corpus.id, ids.document_id("a"))
        assert _without_time((await record.jobs.get(second.id)).progress) == (0, 0, 0, 0)
        assert _without_time(again.progress) == (0, 0, 0, 100)
        await record.jobs.cancel(again.id)
        assert _without_time((await record.jobs.get(again.id)).progress) == (0, 0, 100, 100)

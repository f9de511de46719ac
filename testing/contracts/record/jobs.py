"""The contract of the record about jobs: cancelling them, pausing and resuming jobs whose token budget is spent, and
progress.

Progress is counted in passages and in bytes.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.graph import Extraction, FitTally
from core.jobs import JobAhead, JobKind, JobProgress, JobState
from core.ports.record import ClaimProgress, JobUsage, Record, StagedExtraction, Submissions
from testing.record import LEASE, SETTINGS, RecordFixtures, claim_all, commit_of, put, revision

__all__ = ["JobsContract", "ProgressContract"]


class JobsContract(RecordFixtures):
    async def test_a_deletion_is_not_cancelled(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])])
        job = await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        await record.jobs.cancel(job.id)
        [claim] = await claim_all(record, corpus)
        assert claim.deletion

    async def test_cancel_fences_and_keeps_what_is_finished(self, record: Record, corpus: Corpus) -> None:
        enqueued = await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [first, second] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(first, [("one", [])])], grace=0)
        job = await record.jobs.cancel(enqueued.job.id)
        assert (job.state, job.counts) == (JobState.CANCELLED, {"cancelled": 1, "indexed": 1})
        outcome = await record.commits.commit([commit_of(second, [("two", [])])], grace=0)
        assert outcome.fenced == (second,)
        assert (await record.corpora.count(corpus.id)).documents == 1

    async def test_a_job_adds_up_how_facts_fit_a_schema(self, record: Record, other: Record, corpus: Corpus) -> None:
        revisions = [revision("a"), revision("b"), revision("c")]
        job = (await record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)).job
        assert job.fits is None
        first, *others = await claim_all(record, corpus)
        await record.commits.commit([commit_of(first, [("one", [])])], grace=0)
        assert (await record.jobs.get(job.id)).fits is None, "without a schema nothing is compared"
        fits = (FitTally(within=2, unnamed=1), FitTally(within=1, outside=3))
        commits = [replace(commit_of(one, [("two", [])]), fits=fit) for one, fit in zip(others, fits, strict=True)]
        await record.commits.commit(commits, grace=0)
        told = FitTally(within=3, outside=3, unnamed=1)
        assert (await other.jobs.get(job.id)).fits == told
        assert [one.fits for one in await other.jobs.list()] == [told]

    async def test_a_used_up_budget_pauses_all_that_is_left_of_the_job(self, record: Record, corpus: Corpus) -> None:
        kept = (await record.submissions.enqueue(corpus.id, [revision("kept")], OnConflict.REPLACE)).job
        keys = ("a", "b", "c")
        job = (
            await record.submissions.enqueue(
                corpus.id, [revision(k) for k in keys], OnConflict.REPLACE, token_budget=10
            )
        ).job
        first, second = await record.claims.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=10**6, max_documents=2)
        assert (first.key, second.key) == ("kept", "a")
        staged = StagedExtraction(claim=second, extract_hash="h", extraction=Extraction())
        await record.staging.stage([staged], [JobUsage(job_id=job.id, calls=1, prompt_tokens=12)])
        await record.claims.pause([second], "used up")
        paused = await record.jobs.get(job.id)
        assert (paused.state, paused.counts) == (JobState.PAUSED, {"paused": 3})
        assert paused.settled
        assert not paused.state.final
        assert (await record.documents.get(corpus.id, second.document_id)).reason == "used up"
        assert await claim_all(record, corpus, "another") == [], "what is paused is not claimed"
        assert await record.claims.renew([second], lease_seconds=LEASE) == [second]
        assert (await record.jobs.get(kept.id)).state is JobState.RUNNING
        assert list(await record.staging.get_staged(corpus.id, [(second.document_id, "h")])) == [
            (second.document_id, "h")
        ]

    async def test_a_paused_job_is_resumed_with_as_much_again_or_with_what_is_given(
        self, record: Record, corpus: Corpus
    ) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=10)).job
        for tokens, budget in ((None, 22), (100, 124), (None, 136 + 100)):
            [claim] = await claim_all(record, corpus)
            await record.staging.stage([], [JobUsage(job_id=job.id, calls=1, prompt_tokens=12)])
            await record.claims.pause([claim], "used up")
            resumed = await record.jobs.resume(job.id, tokens=tokens) if tokens else await record.jobs.resume(job.id)
            spent = resumed.tokens
            assert resumed.token_budget == spent + (tokens or (10 if spent == 12 else 100)), budget
            assert resumed.counts == {"queued": 1}
        [claim] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, [("text", [])])], grace=0)
        done = await record.jobs.get(job.id)
        assert (done.state, done.counts) == (JobState.DONE, {"indexed": 1})

    async def test_only_a_paused_job_is_resumed(self, record: Record, corpus: Corpus) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
        with pytest.raises(Conflict, match="queued"):
            await record.jobs.resume(job.id)
        with pytest.raises(NotFound):
            await record.jobs.resume("f" * 32)

    async def test_a_paused_job_can_be_cancelled(self, record: Record, corpus: Corpus) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=1)).job
        await record.claims.pause(await claim_all(record, corpus), "used up")
        cancelled = await record.jobs.cancel(job.id)
        assert (cancelled.state, cancelled.counts) == (JobState.CANCELLED, {"cancelled": 1})

    async def test_dropping_a_corpus_ends_its_paused_jobs(self, record: Record, corpus: Corpus) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=1)).job
        await record.claims.pause(await claim_all(record, corpus), "used up")
        await record.corpora.delete(corpus.name)
        assert (await record.jobs.get(job.id)).state.final

    async def test_handing_in_again_takes_a_paused_document_into_the_new_job(
        self, record: Record, corpus: Corpus
    ) -> None:
        old = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=1)).job
        await record.claims.pause(await claim_all(record, corpus), "used up")
        new = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
        assert new.counts == {"queued": 1}
        assert (await record.jobs.get(old.id)).state.final
        [claim] = await claim_all(record, corpus)
        assert (claim.job_id, claim.token_budget) == (new.id, None)

    async def test_work_that_moved_to_another_job_is_not_paused(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=1)
        claims = await claim_all(record, corpus)
        new = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
        await record.claims.pause(claims, "used up")
        assert (await record.jobs.get(new.id)).counts == {"queued": 1}

    async def test_lists_of_jobs_page_and_filter(self, record: Record, corpus: Corpus) -> None:
        await record.corpora.create("films", SETTINGS)
        films = await record.corpora.get("films")
        made = []
        for number, target in enumerate((corpus, films, corpus, corpus)):
            enqueued = await record.submissions.enqueue(target.id, [revision(f"k{number}")], OnConflict.REPLACE)
            made.append(enqueued.job.id)
        [claim] = await record.claims.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=10**6, max_documents=1)
        await record.commits.commit([commit_of(claim, [("one", [])])], grace=0)
        deletion = await record.submissions.delete_documents(corpus.id, [claim.document_id])
        newest_first = [deletion.id, *reversed(made)]

        async def listed(**where: Any) -> list[str]:
            return [job.id for job in await record.jobs.list(**where)]

        assert await listed() == newest_first
        assert await listed(limit=2) == newest_first[:2]
        assert await listed(limit=2, before=newest_first[1]) == newest_first[2:4]
        assert await listed(before=newest_first[-1]) == []
        assert await listed(corpus="films") == [made[1]]
        assert await listed(kind=JobKind.DELETE) == [deletion.id]
        assert await listed(state=JobState.DONE) == [made[0]]
        assert await listed(state=JobState.QUEUED, limit=2) == newest_first[:2]
        assert await listed(state=JobState.QUEUED, kind=JobKind.INGEST, corpus="books", before=made[3]) == [made[2]]
        with pytest.raises(NotFound):
            await record.jobs.list(before="f" * 32)

    async def test_a_job_keeps_the_key_that_submitted_it(self, record: Record, corpus: Corpus) -> None:
        """Whatever the job does. A job that goes on belongs to the key that began it."""

        def submissions_of(key: str) -> Submissions:
            return record.for_key(key).submissions

        await put(record, corpus, "a", [("one", [])])
        amended = await submissions_of("amends").amend(corpus.id, ids.document_id("a"), lambda submitted: submitted)
        enqueued = await submissions_of("enqueues").enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        more = await submissions_of("other").enqueue(
            corpus.id, [revision("c")], OnConflict.REPLACE, job_id=enqueued.job.id
        )
        assert more.job.submitted_by == "enqueues"
        opened = await submissions_of("opens").open_job(corpus.id, JobKind.INGEST)
        await record.jobs.cancel(enqueued.job.id)
        retried = await submissions_of("retries").retry(corpus.id, ids.document_id("b"))
        deleted = await submissions_of("deletes").delete_documents(corpus.id, [ids.document_id("b")])
        existing = await submissions_of("deletes too").delete_existing(corpus.id, [ids.document_id("a")])
        reindex = await record.for_key("reindexes").reindexing.start(corpus.id, SETTINGS)
        dropped = await record.for_key("drops").corpora.delete(corpus.name)
        made = {
            "amends": amended.job.id,
            "enqueues": enqueued.job.id,
            "opens": opened,
            "retries": retried.id,
            "deletes": deleted.id,
            "deletes too": existing.job.id,
            "reindexes": reindex.job_id,
            "drops": dropped.id,
        }
        for key, job in made.items():
            assert (await record.jobs.get(job)).submitted_by == key
            assert [listed.id for listed in await record.jobs.list(submitted_by=key)] == [job]
        assert await record.jobs.list(submitted_by="another") == []
        without = [listed for listed in await record.jobs.list() if listed.id not in made.values()]
        assert {listed.submitted_by for listed in without} == {None}


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
        listed = next(candidate for candidate in await record.jobs.list() if candidate.id == job.id)
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
        assert {listed.id: listed.ahead for listed in await record.jobs.list()}[last.id] == JobAhead(
            documents=2, bytes=750
        )
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

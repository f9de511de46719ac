"""The contract of the record about claims: their leases, the epochs that fence lost claims, and staged extractions.

- Revisions that are queued and claimed in one step, as a restore does.
- Extractions that are kept before their revision is committed, and what they cost.
"""

import asyncio

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import InvalidInput, NotFound
from core.graph import Extraction, Surface, Triple
from core.jobs import JobKind, JobState
from core.ports.record import Claim, ClaimFilter, JobUsage, NewRevision, Record, StagedExtraction
from testing.record import LEASE, RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["AdoptionContract", "ClaimsContract", "StagingContract"]


class ClaimsContract(RecordFixtures):
    async def test_a_claim_is_single(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision(f"d{i}") for i in range(50)], OnConflict.REPLACE)
        takes = [
            (record if i % 2 else other).claims.claim(
                corpus.id, f"w{i}", lease_seconds=LEASE, max_bytes=10**9, max_documents=7
            )
            for i in range(10)
        ]
        claims = [claim.key for batch in await asyncio.gather(*takes) for claim in batch]
        assert sorted(claims) == sorted(f"d{i}" for i in range(50))

    async def test_claims_come_in_order_up_to_the_size(self, record: Record, corpus: Corpus) -> None:
        sizes = [60, 60, 500, 10]
        revisions = [revision(f"d{i}", size=size) for i, size in enumerate(sizes)]
        await record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)
        batches = []
        while batch := await record.claims.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=128):
            batches.append([claim.key for claim in batch])
        assert batches == [["d0", "d1"], ["d2"], ["d3"]]

    async def test_claims_of_some_sizes(self, record: Record, corpus: Corpus) -> None:
        sizes = [60, 5000, 61, 500, 0]
        revisions = [revision(f"d{i}", size=size) for i, size in enumerate(sizes)]
        await record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)
        batches = []
        for only in (ClaimFilter(max_size=60), ClaimFilter(min_size=61, max_size=500), ClaimFilter(min_size=501)):
            assert await record.claims.list_corpora(only) == [corpus.id]
            claims = await record.claims.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=10**6, only=only)
            assert await record.claims.list_corpora(only) == []
            batches.append([claim.key for claim in claims])
        assert batches == [["d0", "d4"], ["d2", "d3"], ["d1"]]

    async def test_corpora_with_claimable_revisions(self, record: Record, corpus: Corpus) -> None:
        other = await record.corpora.create("other", corpus.settings)
        assert await record.claims.list_corpora() == []
        await record.submissions.enqueue(corpus.id, [revision("a", size=10)], OnConflict.REPLACE)
        await record.submissions.enqueue(other.id, [revision("a", size=1000)], OnConflict.REPLACE)
        assert await record.claims.list_corpora() == sorted([corpus.id, other.id])
        assert await record.claims.list_corpora(ClaimFilter(max_size=100)) == [corpus.id]
        await claim_all(record, corpus, lease=0.01)
        await asyncio.sleep(0.05)
        assert await record.claims.list_corpora(ClaimFilter(max_size=100)) == [corpus.id], "its lease has expired"
        await record.corpora.delete("other")
        assert await record.claims.list_corpora(ClaimFilter(min_size=100)) == []

    async def test_a_revision_that_is_claimed_alone_is_left_out(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        for _ in range(4):
            assert [claim.suspect for claim in await claim_all(record, corpus, lease=0.01)] == [False]
            await asyncio.sleep(0.05)
        innocent = ClaimFilter(suspects=False)
        assert await record.claims.list_corpora(innocent) == []
        assert await record.claims.claim(corpus.id, "w", lease_seconds=LEASE, max_bytes=100, only=innocent) == []
        assert [claim.suspect for claim in await claim_all(record, corpus)] == [True]

    async def test_a_late_worker_changes_nothing(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus, "late", lease=0.01)
        await asyncio.sleep(0.05)
        assert await other.maintenance.list_corpora_with_work() == [corpus.id]
        [claim] = await claim_all(other, corpus, "next")
        assert claim.epoch > late.epoch
        staged = StagedExtraction(claim=late, extract_hash="h", extraction=Extraction())
        await record.staging.stage([staged])
        assert await record.staging.get_staged(corpus.id, [(late.document_id, "h")]) == {}
        await record.claims.fail(late, "too late")
        await record.claims.release([late])
        assert await record.claims.set_state([late], RevisionState.WRITING) == [late]
        outcome = await record.commits.commit([commit_of(late, [("late", ["Late"])])], grace=0)
        assert outcome.fenced == (late,)
        assert (await record.corpora.count(corpus.id)).chunks == 0
        done = await other.commits.commit([commit_of(claim, [("next", ["Next"])])], grace=0)
        assert done.fenced == ()
        assert (await record.corpora.count(corpus.id)).chunks == 1

    async def test_a_worker_that_is_late_by_a_whole_life_changes_nothing(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        """The document went and came again meanwhile: its revision is another one, whatever its number."""
        await record.submissions.enqueue(corpus.id, [revision("a", "one")], OnConflict.REPLACE)
        [late] = await claim_all(record, corpus)
        await delete(record, corpus, "a")
        await record.submissions.enqueue(corpus.id, [revision("a", "two")], OnConflict.REPLACE)
        [claim] = await claim_all(other, corpus)
        outcome = await record.commits.commit([commit_of(late, [("of the late one", [])])], grace=0)
        assert outcome.fenced == (late,)
        await other.commits.commit([commit_of(claim, [("of the new one", [])])], grace=0)
        [chunk] = await record.contents.get_chunks_of(corpus.id, claim.document_id)
        assert chunk.text == "of the new one"

    async def test_a_renewed_lease_holds(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus, lease=0.01)
        assert await record.claims.renew([claim], lease_seconds=LEASE) == []
        await asyncio.sleep(0.05)
        assert await claim_all(record, corpus, "other") == []

    async def test_a_clock_that_was_set_back_keeps_no_work_from_others(self, record: Record, corpus: Corpus) -> None:
        """After it, leases that were taken before end a day from now, of dead workers too."""
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        day = 86_400.0
        [early] = await claim_all(record, corpus, "early", lease=day)
        assert await record.maintenance.count_expired_leases(corpus.id) == 1
        assert corpus.id in await record.maintenance.list_corpora_with_work()
        [claim] = await claim_all(record, corpus, "other")
        assert (claim.document_id, claim.epoch) == (early.document_id, early.epoch + 1)
        outcome = await record.commits.commit([commit_of(early, [("of the early one", [])])], grace=0)
        assert outcome.fenced == (early,)
        assert await claim_all(record, corpus, "third") == []

    async def test_released_work_is_claimable_at_once(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        for _ in range(20):  # handing back is no failed attempt
            claims = await claim_all(record, corpus)
            assert len(claims) == 1
            await record.claims.release(claims)

    async def test_what_kills_its_workers_comes_alone_and_then_fails(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        for _ in range(4):
            assert len(await claim_all(record, corpus)) == 2
            await record.maintenance.expire_leases()
        for _ in range(8):
            assert len(await claim_all(record, corpus)) == 1
            await record.maintenance.expire_leases()
        assert await claim_all(record, corpus) == []
        job = (await record.jobs.list())[0]
        assert (job.state, job.counts) == (JobState.FAILED, {"failed": 2})
        assert "8 times" in job.failures[0][1]

    async def test_a_failure_keeps_the_current_revision(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.submissions.enqueue(corpus.id, [revision("a", "bad")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "not UTF-8 at byte 3")
        document = await record.documents.get(corpus.id, claim.document_id)
        assert (document.state, document.readable) == (RevisionState.FAILED, True)
        assert document.reason == "not UTF-8 at byte 3"
        assert [c.text for c in await record.contents.get_chunks_of(corpus.id, claim.document_id)] == ["one"]
        job = await record.submissions.retry(corpus.id, claim.document_id)
        assert job.counts == {"queued": 1}
        assert len(await claim_all(record, corpus)) == 1


async def adopt(record: Record, corpus: Corpus, job_id: str, *revisions: NewRevision) -> dict[str, Claim]:
    claims = await record.claims.enqueue_claimed(corpus.id, revisions, "restorer", job_id=job_id, lease_seconds=LEASE)
    return {claim.key: claim for claim in claims}


async def commit(record: Record, *claims: Claim) -> tuple[Claim, ...]:
    commits = [commit_of(claim, [(f"text of {claim.key}", [claim.key])]) for claim in claims]
    return (await record.commits.commit(commits, grace=0)).fenced


class AdoptionContract(RecordFixtures):
    async def test_what_is_adopted_is_claimed_at_once_and_nobody_else_begins_it(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a", year=1843), revision("b"))
        assert sorted(claims) == ["a", "b"]
        assert claims["a"].metadata == {"year": 1843}
        assert (claims["a"].job_id, claims["a"].deletion) == (job, False)
        assert claims["a"].content_hash == ids.content_hash(b"a")
        assert await claim_all(other, corpus) == []
        document = await record.documents.get(corpus.id, claims["a"].document_id)
        assert document.state.in_work
        assert not document.readable
        assert await commit(record, *claims.values()) == ()
        done = await record.submissions.close_job(job)
        assert (done.kind, done.state, done.counts) == (JobKind.RESTORE, JobState.DONE, {"indexed": 2})

    async def test_a_claim_that_was_adopted_is_like_any_other(self, record: Record, corpus: Corpus) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a"))
        extraction = Extraction(entities=(Surface(form="A"),))
        staged = StagedExtraction(claim=claims["a"], extract_hash="e" * 32, extraction=extraction)
        assert await record.staging.stage([staged]) == []
        assert await record.claims.renew([claims["a"]], lease_seconds=LEASE) == []
        key = (claims["a"].document_id, "e" * 32)
        assert await record.staging.get_staged(corpus.id, [key]) == {key: extraction}
        await record.claims.release([claims["a"]])
        assert [claim.key for claim in await claim_all(record, corpus)] == ["a"]

    async def test_what_is_unchanged_gives_no_claim(self, record: Record, corpus: Corpus) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        await commit(record, *(await adopt(record, corpus, job, revision("a"))).values())
        again = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        assert list(await adopt(record, corpus, again, revision("a"), revision("b"))) == ["b"]
        assert (await record.submissions.close_job(again)).counts["unchanged"] == 1

    async def test_another_content_replaces_what_is_there_once_it_is_committed(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("an older text", ["Old"])])
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a", "newer"))
        document_id = claims["a"].document_id
        assert [chunk.text for chunk in await record.contents.get_chunks_of(corpus.id, document_id)] == [
            "an older text"
        ]
        await commit(record, claims["a"])
        assert [chunk.text for chunk in await record.contents.get_chunks_of(corpus.id, document_id)] == ["text of a"]

    async def test_unfinished_work_on_the_same_content_is_taken_over(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        first = (await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)).job
        [begun] = await other.claims.claim(
            corpus.id, "elsewhere", lease_seconds=LEASE, max_bytes=10**6, max_documents=1
        )
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a"), revision("b"))
        assert sorted(claims) == ["a", "b"], "one in work elsewhere, one queued"
        assert await other.claims.renew([begun], lease_seconds=LEASE) == [begun]
        assert await commit(other, begun) == (begun,)
        assert await commit(record, *claims.values()) == ()
        assert (await record.submissions.close_job(job)).counts == {"indexed": 2}
        assert (await record.jobs.get(first.id)).state.final

    async def test_whoever_died_over_it_can_go_on(self, record: Record, corpus: Corpus) -> None:
        died = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        await adopt(record, corpus, died, revision("a"))
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a"))
        assert await commit(record, claims["a"]) == ()
        assert (await record.submissions.close_job(job)).counts == {"indexed": 1}

    async def test_what_failed_or_was_deleted_is_adopted_anew(self, record: Record, corpus: Corpus) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        claims = await adopt(record, corpus, job, revision("a"), revision("b"))
        await record.claims.fail(claims["a"], "the model is gone")
        await commit(record, claims["b"])
        await delete(record, corpus, "b")
        claims = await adopt(record, corpus, job, revision("a"), revision("b"))
        assert sorted(claims) == ["a", "b"]
        assert await commit(record, *claims.values()) == ()
        for claim in claims.values():
            assert (await record.documents.get(corpus.id, claim.document_id)).state is RevisionState.INDEXED

    async def test_nothing_to_adopt_and_a_key_twice(self, record: Record, corpus: Corpus) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        assert await adopt(record, corpus, job) == {}
        with pytest.raises(InvalidInput, match="'a'"):
            await adopt(record, corpus, job, revision("a"), revision("a", "other"))
        assert await claim_all(record, corpus) == []

    async def test_a_dropped_corpus_adopts_nothing(self, record: Record, corpus: Corpus) -> None:
        job = await record.submissions.open_job(corpus.id, JobKind.RESTORE)
        await record.corpora.delete(corpus.name)
        with pytest.raises(NotFound):
            await adopt(record, corpus, job, revision("a"))


class StagingContract(RecordFixtures):
    async def test_extractions_outlive_a_crash_and_not_their_document(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        extraction = Extraction(
            entities=(Surface(form="Søren", count=2),),
            triples=(Triple(subject="Søren", predicate="lives in", object="København"),),
            malformed=1,
        )
        one = commit_of(claim, [("one", ["Søren"])])
        kept = one.chunks[0].extract_hash
        await record.staging.stage(
            [StagedExtraction(claim=claim, extract_hash=h, extraction=extraction) for h in (kept, "unused")]
        )
        await record.maintenance.expire_leases()
        keys = [(claim.document_id, kept), (claim.document_id, "unused"), ("f" * 32, kept)]
        assert set(await record.staging.get_staged(corpus.id, keys)) == set(keys[:2])
        assert (await record.staging.get_staged(corpus.id, keys))[keys[0]] == extraction
        [again] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(again, [("one", ["Søren"])])], grace=0)
        assert set(await record.staging.get_staged(corpus.id, keys)) == {keys[0]}
        await delete(record, corpus, "a")
        assert await record.staging.get_staged(corpus.id, keys) == {}

    async def test_a_claim_tells_its_job_and_what_that_may_spend(self, record: Record, corpus: Corpus) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, token_budget=100)).job
        assert (job.token_budget, job.tokens) == (100, 0)
        [claim] = await claim_all(record, corpus)
        assert (claim.job_id, claim.token_budget, claim.tokens_spent) == (job.id, 100, 0)
        spent = JobUsage(job_id=job.id, calls=2, prompt_tokens=30, completion_tokens=5)
        assert await record.staging.stage([], [spent]) == []
        await record.staging.stage([], [spent])
        await record.claims.release([claim])
        [claim] = await claim_all(record, corpus)
        assert claim.tokens_spent == 70
        job = await record.jobs.get(job.id)
        assert (job.calls, job.prompt_tokens, job.completion_tokens, job.tokens) == (4, 60, 10, 70)

    async def test_a_job_without_a_budget_has_none(self, record: Record, corpus: Corpus) -> None:
        job_id = await record.submissions.open_job(corpus.id, JobKind.INGEST)
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE, job_id=job_id)
        [claim] = await claim_all(record, corpus)
        assert claim.token_budget is None

    async def test_what_a_lost_claim_spent_is_counted_and_its_extraction_is_not_kept(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        job = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
        [claim] = await claim_all(record, corpus)
        await other.jobs.cancel(job.id)
        staged = StagedExtraction(claim=claim, extract_hash="h", extraction=Extraction())
        assert await record.staging.stage([staged], [JobUsage(job_id=job.id, calls=1, prompt_tokens=9)]) == [claim]
        assert (await record.jobs.get(job.id)).tokens == 9
        assert await record.staging.get_staged(corpus.id, [(claim.document_id, "h")]) == {}

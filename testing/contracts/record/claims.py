"""The contract of the record about claims, their leases, and the epochs that fence lost ones."""

import asyncio

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.graph import Extraction
from core.jobs import JobState
from core.ports.record import ClaimFilter, Record, StagedExtraction
from testing.record import LEASE, RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["ClaimsContract"]


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

"""The contract of the record about extractions that are kept before their revision is committed, and what they cost."""

from core.corpora import Corpus
from core.documents import OnConflict
from core.graph import Extraction, Surface, Triple
from core.jobs import JobKind
from core.ports.record import JobUsage, Record, StagedExtraction
from testing.record import RecordFixtures, claim_all, commit_of, delete, revision

__all__ = ["StagingContract"]


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

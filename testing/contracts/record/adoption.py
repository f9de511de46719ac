"""The contract of the record about revisions that are queued and claimed in one step, as a restore does."""

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import InvalidInput, NotFound
from core.graph import Extraction, Surface
from core.jobs import JobKind, JobState
from core.ports.record import Claim, NewRevision, Record, StagedExtraction
from testing.record import LEASE, RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["AdoptionContract"]


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

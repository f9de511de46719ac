"""The contract of the record about expired leases, dropped corpora and entities that no chunk mentions."""

import pytest

from core.corpora import Corpus
from core.documents import OnConflict
from core.jobs import JobKind, JobState
from core.ports.record import Record
from testing.record import LEASE, SETTINGS, RecordFixtures, claim_all, delete, export, put, revision

__all__ = ["MaintenanceContract"]


class MaintenanceContract(RecordFixtures):
    async def test_expire_ends_every_lease(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [first, _] = await claim_all(record, corpus)
        assert await record.maintenance.expire_leases() == 2
        assert await record.claims.renew([first], lease_seconds=LEASE) == [first]
        assert len(await claim_all(record, corpus)) == 2

    async def test_drop_hides_at_once_and_frees_the_name(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        job = await record.corpora.delete("books")
        assert (job.kind, job.state) == (JobKind.DROP, JobState.QUEUED)
        assert await record.corpora.list() == []
        again = await record.corpora.create("books", SETTINGS)
        assert again.id != corpus.id
        assert await claim_all(record, corpus) == []
        assert await record.maintenance.list_deleted_corpora() == [corpus.id]
        assert corpus.id in await record.maintenance.list_corpora_with_work()
        await record.maintenance.delete_corpus_rows(corpus.id)
        assert (await record.jobs.get(job.id)).state is JobState.DONE
        assert await record.maintenance.list_deleted_corpora() == []
        assert await export(record, corpus) == []
        assert (await record.corpora.get("books")).id == again.id

    async def test_lapsed_counts_the_revisions_whose_lease_has_run_out(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        claims = await claim_all(record, corpus)
        assert await record.maintenance.count_expired_leases(corpus.id) == 0
        await record.claims.renew(claims[:1], lease_seconds=-1.0)
        assert await record.maintenance.count_expired_leases(corpus.id) == 1

    async def test_documents_are_counted_by_the_state_of_their_newest_revision(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("two", ["Bob"])])
        await record.submissions.enqueue(corpus.id, [revision("b"), revision("c")], OnConflict.REPLACE)
        counted = await record.maintenance.count_documents()
        assert [(one.corpus, one.state, one.documents) for one in counted] == [
            ("books", "indexed", 1),
            ("books", "queued", 2),
        ]
        assert all(0 <= one.waiting_seconds < LEASE for one in counted)

    async def test_a_claim_tells_that_a_lease_had_expired(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        first = await claim_all(record, corpus)
        assert not any(claim.taken_over for claim in first)
        await record.claims.renew(first[:1], lease_seconds=-1.0)
        [taken] = await claim_all(record, corpus)
        assert (taken.key, taken.taken_over) == (first[0].key, True)

    async def test_commits_and_deletions_leave_no_entity_without_a_mention(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])])
        await put(record, corpus, "a", [("two", ["Bob"])])
        assert await record.maintenance.count_orphans(corpus.id) == 0
        await delete(record, corpus, "a")
        assert await record.maintenance.delete_orphans(corpus.id) == 0

    @pytest.mark.parametrize("kind", [JobKind.INGEST, JobKind.RESTORE])
    async def test_abandoned_jobs_are_closed(
        self, record: Record, corpus: Corpus, kind: JobKind, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for store in ("stores.sqlite.record.jobs", "stores.neo4j.record.jobs"):
            monkeypatch.setattr(f"{store}.ABANDONED_SECONDS", -60)
        job_id = await record.submissions.open_job(corpus.id, kind)
        await record.maintenance.prune()
        assert (await record.jobs.get(job_id)).state.final

    async def test_trim_keeps_what_is_recent(self, record: Record, corpus: Corpus) -> None:
        start = await record.graph.generation(corpus.id)
        await put(record, corpus, "a", [("one", ["Ada"])])
        job_id = await record.submissions.open_job(corpus.id, JobKind.INGEST)
        await record.maintenance.prune()
        assert await record.graph.changes(corpus.id, start) is not None
        assert not (await record.jobs.get(job_id)).state.final

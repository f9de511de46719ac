"""The contract of the record about submissions, deletions and retries, and the jobs that they make.

Documents that exist are changed and deleted: amendments, and deletions of what a filter matches. Receipts and API keys
come last.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.filters import parse_filter
from core.jobs import JobKind, JobState
from core.keys import KeyLimits, KeyState, KeyUsage, Scope, make_key
from core.ports.record import Commit, NewRevision, Record
from testing.graph_rows import told
from testing.record import LEASE, RecordFixtures, claim_all, commit_of, export, put, revision

__all__ = ["ChangesContract", "IntakeContract", "KeysContract", "ReceiptsContract"]


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


class ReceiptsContract(RecordFixtures):
    async def test_a_request_is_carried_out_once(self, record: Record, other: Record) -> None:
        assert await record.receipts.begin("k", "request", lease_seconds=60) is None
        with pytest.raises(Conflict, match="is being carried out"):
            await other.receipts.begin("k", "request", lease_seconds=60)
        await record.receipts.finish("k", "the answer")
        await record.receipts.release("k")
        assert await other.receipts.begin("k", "request", lease_seconds=60) == "the answer"
        with pytest.raises(InvalidInput, match="used for another request"):
            await other.receipts.begin("k", "another", lease_seconds=60)
        await record.maintenance.prune()
        assert await other.receipts.begin("k", "request", lease_seconds=60) == "the answer"

    async def test_a_request_that_failed_is_carried_out_again(self, record: Record) -> None:
        await record.receipts.begin("k", "request", lease_seconds=60)
        await record.receipts.release("k")
        assert await record.receipts.begin("k", "another", lease_seconds=60) is None

    async def test_a_reservation_of_a_process_that_died_ends(self, record: Record) -> None:
        await record.receipts.begin("k", "request", lease_seconds=60)
        await asyncio.sleep(0.02)
        assert await record.receipts.begin("k", "request", lease_seconds=0.01) is None

    async def test_of_two_at_once_one_carries_it_out(self, record: Record, other: Record) -> None:
        begun = await asyncio.gather(
            *(one.receipts.begin("k", "request", lease_seconds=60) for one in (record, other)), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in begun) == ["Conflict", "NoneType"]


_NOW = datetime.now(UTC).replace(microsecond=0)


class KeysContract(RecordFixtures):
    async def test_a_key_is_kept_as_it_was_made_without_its_secret(self, record: Record, other: Record) -> None:
        limits = KeyLimits(requests=60, tokens=1000, ingest_bytes=10_000_000)
        where = {"$or": [{"team": "ж"}, {"year": {"$gte": 1990}}]}
        made = [
            make_key("CI of Ada", [Scope.READ, Scope.WRITE], corpora=["people"], filter=where, limits=limits),
            make_key("Ø", [Scope.ADMIN], expires_at=_NOW + timedelta(days=1)),
        ]
        for key, _ in made:
            await record.keys.create(key)
        found = {key.id: key for key in await other.keys.list()}
        assert found == {key.id: key for key, _ in made}
        for key, text in made:
            assert text[-16:] not in repr(found[key.id])

    async def test_a_revoked_key_stays_in_the_list_until_it_is_deleted(self, record: Record, other: Record) -> None:
        key, _ = make_key("a", [Scope.READ])
        await record.keys.create(key)
        revoked = await record.keys.revoke(key.id)
        assert revoked.revoked_at is not None
        assert await other.keys.revoke(key.id) == revoked
        [found] = await other.keys.list()
        assert found.state(_NOW) is KeyState.REVOKED
        assert await other.keys.delete(key.id) == revoked
        assert await record.keys.list() == []

    async def test_unknown_keys(self, record: Record) -> None:
        for call in (record.keys.revoke, record.keys.delete):
            with pytest.raises(NotFound, match="no key with the id 'x'; `hopweave keys list`"):
                await call("x")

    async def test_usage_is_that_of_all_processes(self, record: Record, other: Record) -> None:
        used = KeyUsage(requests=1, tokens=20, ingest_bytes=300)
        minutes = await asyncio.gather(*(one.keys.add_usage({"k": used}) for one in (record, other)))
        total = await record.keys.add_usage({"k": KeyUsage(), "l": KeyUsage(requests=5)})
        assert 0 < total.seconds <= 60
        if {one.number for one in minutes} == {total.number}:  # unless a minute has just begun
            assert total.usage == {"k": used + used, "l": KeyUsage(requests=5)}
        assert (await other.keys.add_usage({})).usage == {}

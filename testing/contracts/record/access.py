"""The contract of the record about who may see documents: what a submission names, and what is said at once."""

from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, Forbidden, NotFound
from core.filters import parse_filter
from core.jobs import JobState
from core.ports.record import Enqueued, Record
from core.principals import DocumentAccess, visible_to
from testing.contracts.record.corpora import OTHER, build_all
from testing.record import RecordFixtures, claim_all, commit_of, delete, export, put, revision

__all__ = ["AccessContract"]

A, B, AB = ("group:a",), ("group:b",), ("group:a", "group:b")
_ID = ids.document_id("x")


class AccessContract(RecordFixtures):
    async def test_an_access_is_set_at_once_and_in_every_process(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "x", [("one", ["Ada"])])
        await put(record, corpus, "y", [("two", ["Ada"])])
        for one in (record, other):
            assert await _seen(one, corpus, "group:a") == {"x", "y"}
        assert await other.submissions.set_access(corpus.id, [_ID, "0" * 32], B) == {_ID}
        for one in (record, other):
            assert await _seen(one, corpus, "group:a") == {"y"}
            assert await _seen(one, corpus, "group:b") == {"x", "y"}
            assert (await one.documents.get(corpus.id, _ID)).access == B
            assert (await one.documents.get_refs(corpus.id, [_ID]))[_ID].access == B
        await record.submissions.set_access(corpus.id, [_ID], ())
        for one in (other, record):
            assert await _seen(one, corpus, "group:b", "group:a") == {"y"}
        await record.submissions.set_access(corpus.id, [_ID], None)
        assert await _seen(other, corpus) == {"x", "y"}

    async def test_setting_an_access_makes_no_revision_and_changes_no_chunk(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "x", [("one", ["Ada"])])
        chunks = await record.contents.get_chunks_of(corpus.id, _ID)
        await record.submissions.set_access(corpus.id, [_ID], A)
        assert await claim_all(record, corpus) == []
        assert await record.contents.get_chunks_of(corpus.id, _ID) == chunks
        assert await record.tombstones.list_due(corpus.id) == []

    async def test_a_new_document_has_the_access_that_it_names(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", A)
        assert (await record.documents.get(corpus.id, _ID)).access == A, "before it is readable, too"
        await _commit(record, corpus)
        assert await _seen(record, corpus, "group:a") == {"x"}
        assert await _seen(record, corpus, "group:b") == set()

    async def test_a_revision_that_names_no_access_keeps_the_access(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        await _submit(record, corpus, "second", None)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == A

    async def test_whoever_gains_a_document_gains_it_with_the_new_content(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", AB)
        await _commit(record, corpus)
        await _submit(record, corpus, "second", ("group:b", "group:c"))
        assert (await record.documents.get(corpus.id, _ID)).access == B, "group:a has lost it, group:c has to wait"
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == ("group:b", "group:c")

    async def test_a_failed_revision_gives_the_former_content_to_nobody_else(
        self, record: Record, corpus: Corpus
    ) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        await _submit(record, corpus, "second", B)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "broken")
        assert (await record.documents.get(corpus.id, _ID)).access == ()
        await record.submissions.retry(corpus.id, _ID)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == B

    async def test_the_same_submission_again_keeps_what_the_unfinished_one_named(
        self, record: Record, corpus: Corpus
    ) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        await _submit(record, corpus, "second", AB)
        await _submit(record, corpus, "second", None)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == AB

    @pytest.mark.parametrize("end", ["superseded", "failed", "cancelled"])
    async def test_what_a_revision_without_an_end_named_is_not_given_to_another_content(
        self, record: Record, corpus: Corpus, end: str
    ) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        job = (await _submit(record, corpus, "redacted", AB)).job
        if end == "failed":
            [claim] = await claim_all(record, corpus)
            await record.claims.fail(claim, "broken")
        elif end == "cancelled":
            await record.jobs.cancel(job.id)
        await _submit(record, corpus, "second", None)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == A

    async def test_an_unchanged_submission_sets_the_access_and_a_skipped_one_does_not(
        self, record: Record, corpus: Corpus
    ) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        for mode in OnConflict:
            await record.submissions.set_access(corpus.id, [_ID], A)
            enqueued = await _submit(record, corpus, "first", B, mode)
            assert (enqueued.documents[0].unchanged, enqueued.job.state) == (True, JobState.DONE)
            assert (await record.documents.get(corpus.id, _ID)).access == B, mode
        await _submit(record, corpus, "another", A, OnConflict.SKIP)
        assert (await record.documents.get(corpus.id, _ID)).access == B
        await _submit(record, corpus, "first", None)
        assert (await record.documents.get(corpus.id, _ID)).access == B

    async def test_the_same_unfinished_submission_may_name_another_access(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", A)
        await _submit(record, corpus, "first", B)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == B

    async def test_what_is_said_at_once_is_not_undone_by_what_was_queued(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        await _submit(record, corpus, "second", AB)
        claims = await claim_all(record, corpus)
        await record.submissions.set_access(corpus.id, [_ID], B)
        await record.commits.commit([commit_of(claim, [("second", [])]) for claim in claims], grace=0)
        assert (await record.documents.get(corpus.id, _ID)).access == B

    async def test_a_document_that_comes_again_is_a_new_one(self, record: Record, corpus: Corpus) -> None:
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        await record.submissions.delete_documents(corpus.id, [_ID])
        assert await record.submissions.set_access(corpus.id, [_ID], B) == frozenset()
        await _submit(record, corpus, "second", B)
        assert (await record.documents.get(corpus.id, _ID)).access == B
        assert await record.submissions.set_access(corpus.id, [_ID], AB) == {_ID}
        await _submit(record, corpus, "third", None)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).access == AB
        await delete(record, corpus, "x")
        await _submit(record, corpus, "fourth", None)
        assert (await record.documents.get(corpus.id, _ID)).access is None

    async def test_nobody_changes_a_document_that_he_has_lost(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await _submit(record, corpus, "first", AB)
        await _commit(record, corpus)
        await put(record, corpus, "y", [("two", ["Ada"])])
        mine, y = record.for_key("b", visible_to(frozenset(B))).submissions, ids.document_id("y")
        assert await mine.set_access(corpus.id, [_ID], AB) == {_ID}
        assert await mine.find_unchanged(corpus.id, {"x": revision("x", "first").fingerprint}) == {"x"}
        await other.submissions.set_access(corpus.id, [_ID], A)
        before = await record.documents.get(corpus.id, _ID)

        assert await mine.set_access(corpus.id, [_ID, y], B) == {y}
        assert await mine.set_enabled(corpus.id, [_ID, y], enabled=False) == {y}
        assert await mine.find_unchanged(corpus.id, {"x": revision("x", "first").fingerprint}) == frozenset()
        assert (await mine.delete_existing(corpus.id, [_ID])).missing == (_ID,)
        with pytest.raises(NotFound):
            await mine.delete_documents(corpus.id, [y, _ID])
        with pytest.raises(NotFound):
            await mine.amend(corpus.id, _ID, lambda submitted: replace(submitted, title="mine", fingerprint="f"))
        for mode in OnConflict:
            for text in ("first", "mine"):
                with pytest.raises(Forbidden, match="'x'"):
                    await mine.enqueue(corpus.id, [revision("z"), replace(revision("x", text), access=B)], mode)
        assert await record.documents.get(corpus.id, _ID) == before
        assert not (await record.documents.list(corpus.id, limit=9, key="z")).data
        assert await claim_all(record, corpus) == [], "nothing of it was queued"

    async def test_a_failed_revision_is_retried_by_those_who_see_the_document(
        self, record: Record, corpus: Corpus
    ) -> None:
        await _submit(record, corpus, "first", B)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "broken")
        mine = record.for_key("b", visible_to(frozenset(B))).submissions
        await record.submissions.set_access(corpus.id, [_ID], A)
        with pytest.raises(NotFound):
            await mine.retry(corpus.id, _ID)
        await record.submissions.set_access(corpus.id, [_ID], B)
        await mine.retry(corpus.id, _ID)
        assert [claim.key for claim in await claim_all(record, corpus)] == ["x"]

    async def test_nobody_cancels_or_resumes_a_document_that_he_has_lost(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        mine = record.for_key("b", visible_to(frozenset(B)))
        both = [replace(revision(key, key), access=B) for key in "xy"]
        job = (await mine.submissions.enqueue(corpus.id, both, OnConflict.REPLACE, token_budget=1)).job
        await record.claims.pause(await claim_all(record, corpus), "used up")
        await other.submissions.set_access(corpus.id, [_ID], A)
        assert (await mine.jobs.resume(job.id)).counts == {"paused": 1, "queued": 1}
        with pytest.raises(Conflict, match="this key sees"):
            await mine.jobs.resume(job.id)
        assert (await mine.jobs.cancel(job.id)).counts == {"cancelled": 1, "paused": 1}
        assert (await record.documents.get(corpus.id, _ID)).state is RevisionState.PAUSED
        await record.jobs.resume(job.id)
        await _commit(record, corpus)
        assert (await record.documents.get(corpus.id, _ID)).state is RevisionState.INDEXED

    async def test_a_job_of_which_a_caller_sees_nothing_is_not_cancelled(self, record: Record, corpus: Corpus) -> None:
        mine = record.for_key("b", visible_to(frozenset(B)))
        job = (await mine.submissions.enqueue(corpus.id, [replace(revision("x"), access=B)], OnConflict.REPLACE)).job
        await record.submissions.set_access(corpus.id, [_ID], A)
        assert (await mine.jobs.cancel(job.id)).counts == {"queued": 1}
        await _commit(record, corpus)
        assert (await record.jobs.get(job.id)).state is JobState.DONE
        assert (await record.documents.get(corpus.id, _ID)).state is RevisionState.INDEXED

    async def test_a_document_that_comes_again_has_the_fields_of_its_submission(
        self, record: Record, corpus: Corpus
    ) -> None:
        """A filter of the caller is tested on what `Documents` lists, also while the former document is deleted."""
        await _submit(record, corpus, "first", A)
        await _commit(record, corpus)
        mine = record.for_key("b", visible_to(frozenset(B)).join(parse_filter({"team": "b"}))).submissions
        await record.submissions.delete_documents(corpus.id, [_ID])
        submitted = replace(revision("x", "second"), access=B, metadata={"team": "b"})
        await mine.enqueue(corpus.id, [submitted], OnConflict.REPLACE)
        assert await mine.set_access(corpus.id, [_ID], AB) == {_ID}
        other = replace(revision("x", "third"), access=B, metadata={"team": "a"})
        await record.submissions.enqueue(corpus.id, [other], OnConflict.REPLACE)
        assert await mine.set_access(corpus.id, [_ID], AB) == frozenset()

    async def test_the_swap_keeps_the_access(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "y", [("two", ["Ada"])])
        await _submit(record, corpus, "first", AB)
        await _commit(record, corpus)
        built = await record.reindexing.start(corpus.id, OTHER)
        await build_all(record, built)
        await record.submissions.set_access(corpus.id, [_ID], A)
        await record.reindexing.swap(corpus.id)
        now = await record.corpora.get("books")
        found = {document.key: document.access for document in (await record.documents.list(now.id, limit=9)).data}
        assert found == {"x": A, "y": None}

    async def test_an_export_has_the_access(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "y", [("two", ["Ada"])])
        await _submit(record, corpus, "first", AB)
        await _commit(record, corpus)
        exported = [row for row in await export(record, corpus) if row["kind"] == "document"]
        assert {row["key"]: row.get("access") for row in exported} == {"x": list(AB), "y": None}


async def _submit(
    record: Record, corpus: Corpus, text: str, access: DocumentAccess, mode: OnConflict = OnConflict.REPLACE
) -> Enqueued:
    return await record.submissions.enqueue(corpus.id, [replace(revision("x", text), access=access)], mode)


async def _commit(record: Record, corpus: Corpus) -> None:
    claims = await claim_all(record, corpus)
    await record.commits.commit([commit_of(claim, [(claim.content_hash, [])]) for claim in claims], grace=0)


async def _seen(record: Record, corpus: Corpus, *principals: str) -> set[str]:
    """Returns the keys of the documents that a caller with these principals sees."""
    found = await record.documents.match(corpus.id, visible_to(frozenset(principals)))
    return {ref.key for ref in (await record.documents.get_refs(corpus.id, found)).values()}

"""The contract of the record about changing and deleting documents that exist: amendments, and deletions of what is
there.
"""

from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import Conflict, NotFound
from core.jobs import JobKind, JobState
from core.ports.record import NewRevision, Record
from testing.record import RecordFixtures, claim_all, commit_of, export, put, revision

__all__ = ["ChangesContract"]


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

"""Submissions as the holder of a key makes them: within its filter, and within its limit of bytes."""

from collections.abc import Callable, Mapping, Sequence

from app.access.documents import RestrictedDocuments
from app.access.models import Meter
from core.documents import Metadata, OnConflict
from core.errors import Forbidden
from core.filters import DocumentFilter
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Check, Deletion, Enqueued, NewRevision, Submissions
from core.record_policy.errors import document_missing

__all__ = ["MeteredSubmissions", "RestrictedSubmissions"]


class MeteredSubmissions:
    """Implements `core.ports.record.Submissions`, and counts the bytes of what is submitted.

    Jobs are submitted by `key`.
    """

    def __init__(self, submissions: Submissions, meter: Meter, key: str | None) -> None:
        self._submissions = submissions
        self._meter = meter
        self._key = key

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
        submitted_by: str | None = None,
    ) -> Enqueued:
        """Raises `RateLimited` if the key may not submit so many bytes in this minute."""
        await self._meter.admit_bytes(sum(revision.size for revision in revisions))
        return await self._submissions.enqueue(
            corpus_id,
            revisions,
            on_conflict,
            job_id=job_id,
            token_budget=token_budget,
            submitted_by=submitted_by or self._key,
        )

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        return await self._submissions.count_queued(corpus_id, at_most=at_most)

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        return await self._submissions.find_unchanged(corpus_id, fingerprints)

    async def open_job(
        self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None, submitted_by: str | None = None
    ) -> str:
        submitted_by = submitted_by or self._key
        return await self._submissions.open_job(corpus_id, kind, token_budget=token_budget, submitted_by=submitted_by)

    async def close_job(self, job_id: str) -> Job:
        return await self._submissions.close_job(job_id)

    async def delete_documents(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Job:
        submitted_by = submitted_by or self._key
        return await self._submissions.delete_documents(corpus_id, document_ids, submitted_by=submitted_by)

    async def delete_existing(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Deletion:
        submitted_by = submitted_by or self._key
        return await self._submissions.delete_existing(corpus_id, document_ids, submitted_by=submitted_by)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        return await self._submissions.find_deletion(corpus_id, document_id)

    async def amend(
        self,
        corpus_id: str,
        document_id: str,
        change: Callable[[NewRevision], NewRevision],
        *,
        submitted_by: str | None = None,
    ) -> Enqueued:
        return await self._submissions.amend(corpus_id, document_id, change, submitted_by=submitted_by or self._key)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        return await self._submissions.set_enabled(corpus_id, document_ids, enabled=enabled)

    async def retry(
        self, corpus_id: str, document_id: str, *, check: Check | None = None, submitted_by: str | None = None
    ) -> Job:
        submitted_by = submitted_by or self._key
        return await self._submissions.retry(corpus_id, document_id, check=check, submitted_by=submitted_by)


class RestrictedSubmissions(MeteredSubmissions):
    """The same for a key with a filter: it neither makes nor changes a document that does not match."""

    def __init__(
        self,
        submissions: Submissions,
        meter: Meter,
        key: str | None,
        documents: RestrictedDocuments,
        where: DocumentFilter,
    ) -> None:
        super().__init__(submissions, meter, key)
        self._documents = documents
        self._where = where

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
        submitted_by: str | None = None,
    ) -> Enqueued:
        """Raises `Forbidden`, naming the key, for a document that does not match or would replace a document that does
        not match.
        """
        for revision in revisions:
            self._check(revision, revision.metadata)
        outside = await self._documents.outside(corpus_id, [document_id(revision.key) for revision in revisions])
        for revision in revisions:
            if document_id(revision.key) in outside:
                raise _refuse(revision.key)
        return await super().enqueue(
            corpus_id, revisions, on_conflict, job_id=job_id, token_budget=token_budget, submitted_by=submitted_by
        )

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        found = await super().find_unchanged(corpus_id, fingerprints)
        visible = await self._documents.among(corpus_id, [document_id(key) for key in found])
        return frozenset(key for key in found if document_id(key) in visible)

    async def delete_documents(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Job:
        for id in document_ids:
            await self._documents.get(corpus_id, id)
        return await super().delete_documents(corpus_id, document_ids, submitted_by=submitted_by)

    async def delete_existing(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Deletion:
        visible = await self._documents.among(corpus_id, document_ids)
        kept = [id for id in document_ids if id in visible]
        deletion = await super().delete_existing(corpus_id, kept, submitted_by=submitted_by)
        missing = {*deletion.missing, *document_ids} - (visible - set(deletion.missing))
        return Deletion(job=deletion.job, missing=tuple(id for id in dict.fromkeys(document_ids) if id in missing))

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        """Returns None unless this key submitted the job: a document that is being deleted has no fields any more that
        the filter could match.
        """
        job = await super().find_deletion(corpus_id, document_id)
        return job if job is not None and job.submitted_by == self._key else None

    async def amend(
        self,
        corpus_id: str,
        document_id: str,
        change: Callable[[NewRevision], NewRevision],
        *,
        submitted_by: str | None = None,
    ) -> Enqueued:
        present = await self._documents.get(corpus_id, document_id)

        def checked(submitted: NewRevision) -> NewRevision:
            changed = change(submitted)
            found = {name: value for name, value in present.metadata.items() if name not in submitted.metadata}
            self._check(changed, {**found, **changed.metadata}, title=changed.title or present.title)
            return changed

        return await super().amend(corpus_id, document_id, checked, submitted_by=submitted_by)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        visible = await self._documents.among(corpus_id, document_ids)
        return await super().set_enabled(corpus_id, [id for id in document_ids if id in visible], enabled=enabled)

    async def retry(
        self, corpus_id: str, document_id: str, *, check: Check | None = None, submitted_by: str | None = None
    ) -> Job:
        """Raises `Forbidden` also if what was submitted last does not match: another key may have submitted it."""
        if document_id not in await self._documents.among(corpus_id, [document_id]):
            raise document_missing(document_id)

        def check_both(submitted: NewRevision) -> None:
            self._check(submitted, submitted.metadata)
            if check is not None:
                check(submitted)

        return await super().retry(corpus_id, document_id, check=check_both, submitted_by=submitted_by)

    def _check(self, revision: NewRevision, metadata: Metadata, *, title: str | None = None) -> None:
        title = title or revision.title or revision.key
        if not self._where.matches(id=document_id(revision.key), key=revision.key, title=title, metadata=metadata):
            raise _refuse(revision.key)


def _refuse(key: str) -> Forbidden:
    return Forbidden(
        f"this key may not write the document {key!r}: its filter does not match; give it the metadata that the "
        "filter asks for, or another key"
    )

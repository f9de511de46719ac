"""The port of submissions: documents and deletions that become queued revisions of a job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from core.documents import Metadata, OnConflict, RevisionState
from core.jobs import Job, JobKind

__all__ = ["Check", "Deletion", "Enqueued", "EnqueuedDocument", "NewRevision", "Submissions"]


@dataclass(frozen=True, kw_only=True)
class NewRevision:
    """A submission whose bytes are stored. `fingerprint` covers everything that makes revisions differ."""

    key: str
    media_type: str
    content_hash: str
    size: int
    fingerprint: str
    title: str | None
    metadata: Metadata


Check: TypeAlias = Callable[[NewRevision], None]
"""Raises an error for a submission that is not to be queued."""


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """`state` is that of the newest revision. An `unchanged` or `skipped` submission made no revision."""

    id: str
    key: str
    state: RevisionState
    unchanged: bool = False
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    """A job, and what became of the submissions, in their order."""

    job: Job
    documents: tuple[EnqueuedDocument, ...]


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """A job that deletes documents, and the ids that no document had."""

    job: Job
    missing: tuple[str, ...]


class Submissions(Protocol):
    """Makes queued revisions of submissions and deletions.

    `submitted_by` is the id of the key of the caller, which a new job keeps; None without one.
    """

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
        """Enqueues revisions in one transaction. Raises `InvalidInput`, naming the key, if a key comes twice.

        A submission with the fingerprint of the newest revision is `unchanged` if that revision is indexed. If it is
        unfinished, it moves to this job: the new caller waits for it, and the process that queued it may be dead.
        With `on_conflict=error`, `Conflict` lists the keys that exist with another revision, or one that failed or was
        cancelled, and nothing is written. An unfinished older revision is
        cancelled with the reason `superseded`. `job_id` adds to a job of `open_job`; without it a job is made, which
        may spend `token_budget` tokens of models.
        """
        ...

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        """Returns how many revisions of a corpus are queued; `at_most` if there are more."""
        ...

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        """Returns the keys that `enqueue` would report as unchanged. `fingerprints` are by key."""
        ...

    async def open_job(
        self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None, submitted_by: str | None = None
    ) -> str:
        """Creates an empty job that several calls of `enqueue` fill, and returns its id.

        The job is not final before `close_job` is called, or before it was untouched for a long time.
        """
        ...

    async def close_job(self, job_id: str) -> Job: ...

    async def delete_documents(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Job:
        """Makes documents invisible at once and queues their deletion.

        Raises `NotFound` if an id is unknown; then no document is deleted.
        """
        ...

    async def delete_existing(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Deletion:
        """Does the same for the documents that exist, and returns the ids of the others. The job may be empty."""
        ...

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        """Returns the job that deletes a document; None if the document does not exist or is not being deleted."""
        ...

    async def amend(
        self,
        corpus_id: str,
        document_id: str,
        change: Callable[[NewRevision], NewRevision],
        *,
        submitted_by: str | None = None,
    ) -> Enqueued:
        """Enqueues what `change` makes of the submission of the newest revision, in one transaction and a new job.

        Raises `NotFound`, and `Conflict` unless the newest revision is indexed: what is unfinished or failed may have
        another content than readers see.
        """
        ...

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        """Shows documents to readers, or hides them, at once, and returns the ids of those that this changes.

        It holds for all later revisions, until the document is deleted. Views keep their entries. Leaves out documents
        that do not exist or are being deleted.
        """
        ...

    async def retry(
        self, corpus_id: str, document_id: str, *, check: Check | None = None, submitted_by: str | None = None
    ) -> Job:
        """Queues the newest revision again.

        Raises `Conflict` unless it failed or was cancelled, and what `check` raises for its submission.
        """
        ...

"""Submissions and deletions become queued revisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.documents import Metadata, OnConflict, RevisionState
from core.jobs import Job, JobKind

__all__ = ["Enqueued", "EnqueuedDocument", "Intake", "NewRevision"]


@dataclass(frozen=True, kw_only=True)
class NewRevision:
    """A submission whose bytes are kept; `fingerprint` covers all that makes a revision differ from another."""

    key: str
    media_type: str
    content_hash: str
    size: int
    fingerprint: str
    title: str | None
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """`state` is that of the newest revision; `unchanged` and `skipped` submissions made none."""

    id: str
    key: str
    state: RevisionState
    unchanged: bool = False
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    job: Job
    documents: tuple[EnqueuedDocument, ...]


class Intake(Protocol):
    """Turns submissions and deletions into queued revisions."""

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        """One transaction. A key twice in one call is `InvalidInput`, naming it.

        A submission whose fingerprint is that of the newest revision is `unchanged` if that is indexed; if it is
        unfinished, it moves to this job: who asked last waits for it, and who asked first may be dead.
        With `on_conflict=error`, `Conflict` lists the keys and nothing is written. An unfinished older revision is
        cancelled with reason `superseded`. `job_id` adds to a job that `open_job` made, else one is made, which may
        spend `token_budget` tokens of models.
        """
        ...

    async def unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        """Of the keys with their fingerprints, those that `enqueue` would call unchanged."""
        ...

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        """An empty job that several calls of `enqueue` fill. It is not final before `close_job`, or long silence."""
        ...

    async def close_job(self, job_id: str) -> Job: ...

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        """Make them invisible at once and queue their removal. Unknown ids raise `NotFound`; none is deleted then."""
        ...

    async def retry(self, corpus_id: str, document_id: str) -> Job:
        """Queue the newest revision again, if it failed or was cancelled; else `Conflict`."""
        ...

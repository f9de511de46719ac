"""The ports of the queue: how submissions become revisions of a job, and which worker may write which of them.

- `Submissions`: documents and deletions that become queued revisions of a job.
- `Claims`: which worker may write which revision, and until when.
- `Staging`: extractions that are stored before their revision is committed.
- `Jobs`, by id.
- `Receipts`: what was answered to requests that must not be carried out twice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from core.documents import Metadata, OnConflict, RevisionState
from core.graph import Extraction
from core.jobs import Job, JobKind, JobState
from core.principals import DocumentAccess


@dataclass(frozen=True, kw_only=True)
class NewRevision:
    """A submission whose bytes are stored. `fingerprint` covers everything that makes revisions differ.

    `access` says who may see the document when the revision is current; None: who sees it then.
    """

    key: str
    media_type: str
    content_hash: str
    size: int
    fingerprint: str
    title: str | None
    metadata: Metadata
    access: DocumentAccess = None


Check: TypeAlias = Callable[[NewRevision], None]
"""Raises an error for a submission that is not to be queued."""


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """`state` is the state of the newest revision. An `unchanged` or `skipped` submission made no revision."""

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
    """Makes queued revisions of submissions and deletions."""

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        """Enqueues revisions in one transaction. Raises `InvalidInput`, naming the key, if a key comes twice.

        A submission with the fingerprint of the newest revision is `unchanged` if that revision is indexed. If it is
        unfinished, it moves to this job: the new caller waits for it, and the process that queued it may be dead. With
        `on_conflict=error`, `Conflict` lists the keys that exist with another revision, or with a revision that failed
        or was cancelled, and nothing is written. An unfinished older revision is cancelled with the reason
        `superseded`. `job_id` adds to a job of `open_job`; without it a job is made, which may spend `token_budget`
        tokens of models.

        The `access` that a submission names takes effect as `core.record_policy.submissions.decide_access` says, also
        of an `unchanged` submission, and not of a `skipped` one.
        """
        ...

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        """Returns how many revisions of a corpus are queued; `at_most` if there are more."""
        ...

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        """Returns the keys that `enqueue` would report as unchanged. `fingerprints` are by key."""
        ...

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        """Creates an empty job that several calls of `enqueue` fill, and returns its id.

        The job is not final before `close_job` is called, or before it was untouched for a long time.
        """
        ...

    async def close_job(self, job_id: str) -> Job: ...

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        """Makes documents invisible at once and queues their deletion.

        Raises `NotFound` if an id is unknown; then no document is deleted.
        """
        ...

    async def delete_existing(self, corpus_id: str, document_ids: Sequence[str]) -> Deletion:
        """Does the same for the documents that exist, and returns the ids of the others. The job may be empty."""
        ...

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        """Returns the job that deletes a document; None if the document does not exist or is not being deleted."""
        ...

    async def amend(self, corpus_id: str, document_id: str, change: Callable[[NewRevision], NewRevision]) -> Enqueued:
        """Enqueues what `change` makes of the submission of the newest revision, in one transaction and a new job.

        Raises `NotFound`, and `Conflict` unless the newest revision is indexed: an unfinished or failed revision may
        have another content than readers see.
        """
        ...

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        """Shows documents to readers, or hides them, at once, and returns the ids of the documents that this changes.

        It holds for all later revisions, until the document is deleted. Views keep their entries. Leaves out documents
        that do not exist or are being deleted.
        """
        ...

    async def set_access(self, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> frozenset[str]:
        """Says who may see documents, at once, and returns the ids of the documents that there are.

        It holds for all later revisions that name no access, also for queued revisions that named some. Views keep
        their entries, and nothing is embedded. Leaves out documents that do not exist or are being deleted.
        """
        ...

    async def retry(self, corpus_id: str, document_id: str, *, check: Check | None = None) -> Job:
        """Queues the newest revision again.

        Raises `Conflict` unless it failed or was cancelled, and what `check` raises for its submission.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A worker's exclusive right to one revision until its lease expires. `epoch` is the fencing token.

    `job_id` is the job of the revision. The job may spend `token_budget` tokens of models (None: any number), and had
    spent `tokens_spent` when the claim was made. `taken_over`: the lease of another worker's claim had expired.
    `suspect`: the revision was claimed so often without an end that it is claimed alone.
    """

    corpus_id: str
    document_id: str
    key: str
    revision: int
    epoch: int
    deletion: bool
    media_type: str
    content_hash: str
    size: int
    title: str | None
    metadata: Metadata
    job_id: str = ""
    token_budget: int | None = None
    tokens_spent: int = 0
    taken_over: bool = False
    suspect: bool = False

    @property
    def token(self) -> tuple[str, str, int, int]:
        """The identity of the claim: corpus id, document id, revision, epoch."""
        return self.corpus_id, self.document_id, self.revision, self.epoch


@dataclass(frozen=True, kw_only=True)
class ClaimProgress:
    """How many passages a claimed revision has, and how many of them are done."""

    claim: Claim
    passages: int
    done: int


@dataclass(frozen=True, kw_only=True)
class ClaimFilter:
    """Which revisions are claimed: by the size of their content in bytes, both bounds included (None: no bound), and
    whether `suspects` are among them: revisions that are claimed alone, as they may be what kills their workers.
    """

    min_size: int = 0
    max_size: int | None = None
    suspects: bool = True


EVERY_REVISION = ClaimFilter()


class Claims(Protocol):
    """Claims with leases by the store's clock. A method that takes claims does nothing for fenced claims."""

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        """Returns the ids of the corpora that have claimable revisions of this kind."""
        ...

    async def claim(
        self,
        corpus_id: str,
        worker: str,
        *,
        lease_seconds: float,
        max_bytes: int,
        max_documents: int = 1000,
        only: ClaimFilter = EVERY_REVISION,
    ) -> list[Claim]:
        """Claims the oldest claimable revisions of this kind, up to `max_bytes` of content, but at least one if there
        is one.

        A revision that was claimed four times without an end is claimed alone. After eight times it fails.
        """
        ...

    async def enqueue_claimed(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        """Enqueues and claims revisions in one step, so that no other worker begins them.

        For revisions whose contents are computed already, as when a backup is restored. Enqueues as
        `Submissions.enqueue` does with `on_conflict=replace` and the job `job_id`. An unchanged submission gives no
        claim.
        """
        ...

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        """Extends the leases. Returns the claims that are fenced."""
        ...

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        """Sets the state that readers see of the revisions. Returns the claims that are fenced."""
        ...

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        """Records the progress of revisions, which their jobs show until the claims end."""
        ...

    async def release(self, claims: Sequence[Claim]) -> None:
        """Ends the claims without a result. The revisions are claimable again at once."""
        ...

    async def fail(self, claim: Claim, reason: str) -> None:
        """Ends a revision as failed. The current revision of the document stays.

        A deletion that the revision superseded is queued again, in the same job.
        """
        ...

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        """Pauses the revisions, and all queued revisions of their jobs, until the jobs are resumed.

        For jobs that have used up their budget. A revision that has moved to another job since it was claimed is
        released instead.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedExtraction:
    """The extraction of one chunk's input, stored under (document id, `extract_hash`)."""

    claim: Claim
    extract_hash: str
    extraction: Extraction


@dataclass(frozen=True, kw_only=True)
class JobUsage:
    """The model calls and tokens that a job has spent since the last report."""

    job_id: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Staging(Protocol):
    """Extractions that are stored before their revision is committed, so that no model call is paid for twice."""

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        """Stores extractions. Returns the claims that are fenced; their extractions are not stored.

        `spent` is added to the usage of its jobs, also where the claims are fenced: the calls were paid for.
        """
        ...

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        """Returns the stored extractions by (document id, extract hash), of current and unfinished revisions alike.

        Keys without an extraction are left out.
        """
        ...


class Jobs(Protocol):
    """Jobs of all corpora."""

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`."""
        ...

    async def list(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        corpus: str | None = None,
        kind: JobKind | None = None,
        state: JobState | None = None,
        submitted_by: str | None = None,
    ) -> Sequence[Job]:
        """Returns at most `limit` jobs, newest first, that are of this corpus (by the name that the job has), kind and
        state, were submitted by this key, and are older than the job `before`. Raises `NotFound` if there is no such
        job.
        """
        ...

    async def cancel(self, job_id: str) -> Job:
        """Cancels the revisions that are not finished; the others stay. A final job is returned as it is.

        A deletion that a cancelled revision superseded is queued again, in this job, which ends with it. The job of a
        reindex ends at once: its corpus is deleted as a whole.
        """
        ...

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        """Queues paused revisions again, with `tokens` more to spend from now on (None: as many as the last time).

        Raises `Conflict` if nothing is paused.
        """
        ...


class Receipts(Protocol):
    """Receipts by the key that a client chose. `Maintenance.prune` deletes receipts that are older than a day."""

    async def begin(self, key: str, request: str, *, lease_seconds: float) -> str | None:
        """Reserves the key for a request, and returns None: the caller carries it out, then calls `finish`.

        Returns the answer of `finish` if the request was carried out in the last 24 hours. Raises `Conflict` if another
        process has reserved the key for the same request less than `lease_seconds` ago, and `InvalidInput` if the key
        belongs to another request. `request` is a digest.
        """
        ...

    async def finish(self, key: str, answer: str) -> None:
        """Keeps the answer of the request that the key is reserved for."""
        ...

    async def release(self, key: str) -> None:
        """Ends the reservation of a request that failed. A key with an answer stays."""
        ...

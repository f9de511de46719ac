"""The port of claims: which worker may write which revision, and until when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.documents import Metadata, RevisionState
from core.ports.record.submissions import NewRevision

__all__ = ["EVERY_REVISION", "Claim", "ClaimFilter", "ClaimProgress", "Claims"]


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
    """Claims with leases by the store's clock. A method that takes claims does nothing for those that are fenced."""

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

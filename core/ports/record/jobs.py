"""The port of jobs, by id."""

from collections.abc import Sequence
from typing import Protocol

from core.jobs import Job, JobKind, JobState

__all__ = ["Jobs"]


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
        """Returns at most `limit` jobs, newest first: those of this corpus (by the name that the job has), kind, state
        and key that submitted them, and older than the job `before`. Raises `NotFound` if there is no such job.
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

"""Rules of jobs: their state, who may cancel and resume them, and when they count as abandoned."""

from collections.abc import Mapping

from core.errors import Conflict
from core.jobs import Job, JobKind, JobState, derive_job_state

__all__ = ["ABANDONED_SECONDS", "NEVER_ABANDONED", "SHOWN_FAILURES", "is_cancellable", "not_paused", "state_of_job"]

SHOWN_FAILURES = 20
"""How many failed documents a job lists."""

ABANDONED_SECONDS = 600
"""An open job is closed if nothing was added to it for so long: its maker died before it could close it."""

NEVER_ABANDONED = (JobKind.REINDEX.value,)
"""Jobs of these kinds stay open without additions: any worker continues them."""


def state_of_job(
    kind: JobKind, counts: Mapping[str, int], *, cancelled: bool, is_open: bool, is_started: bool
) -> JobState:
    """Returns the state of a job. An open job is never final, for revisions may be added."""
    state = derive_job_state(kind, counts, cancelled=cancelled)
    if is_open and state.final:
        return JobState.RUNNING if is_started else JobState.QUEUED
    return state


def is_cancellable(job: Job) -> bool:
    """Whether `Jobs.cancel` does anything. The deletion of a corpus goes on: the corpus has lost its name.

    A cancelled job cancels the revisions that are not deletions: a document that is being deleted is invisible already.
    """
    return not job.state.final and job.kind is not JobKind.DROP


def not_paused(job: Job) -> Conflict:
    """Returns the error of `Jobs.resume` for a job without paused revisions."""
    return Conflict(f"job {job.id!r} is {job.state}; only a paused job can be resumed")

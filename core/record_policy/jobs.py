"""Rules of jobs: their state, who may cancel and resume them, when they count as abandoned, and their progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import Conflict
from core.jobs import Job, JobKind, JobProgress, JobState, derive_job_state

__all__ = [
    "ABANDONED_SECONDS",
    "NEVER_ABANDONED",
    "SHOWN_FAILURES",
    "MeasuredJob",
    "RevisionProgress",
    "is_cancellable",
    "measure_progress",
    "not_paused",
    "state_of_job",
]

SHOWN_FAILURES = 20
"""How many failed documents a job lists."""

ABANDONED_SECONDS = 600
"""An open job is closed if nothing was added to it for this time: its maker died before it could close it."""

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


_LEAST_SHARE = 0.02
_LEAST_SECONDS = 2.0
"""With less done, or after less time, the time that is left is not estimated."""


@dataclass(frozen=True, kw_only=True)
class RevisionProgress:
    """A revision in work: the size of its content in bytes, its passages, and how many of them are done."""

    size: int
    passages: int
    done: int


@dataclass(frozen=True, kw_only=True)
class MeasuredJob:
    """What a record counts of a job: the bytes of all its revisions and of its final revisions, the passages of its
    indexed revisions, and the revisions in work. `at` is the time of the last change, in seconds by the record's clock.
    """

    bytes_total: int
    bytes_done: int
    passages: int
    in_work: Sequence[RevisionProgress] = ()
    at: float | None = None


def measure_progress(measured: MeasuredJob, *, started_at: float | None, now: float) -> JobProgress:
    """Adds the revisions in work to what is finished. `started_at` is None if the job does not run.

    A job that was made by an older release has not counted all of its bytes, so that more may be done than there are.
    """
    working = [revision for revision in measured.in_work if revision.passages]
    partly = sum(revision.size * revision.done // revision.passages for revision in working)
    total = max(measured.bytes_total, measured.bytes_done)
    done = min(measured.bytes_done + partly, total)
    return JobProgress(
        passages=measured.passages + sum(revision.done for revision in measured.in_work),
        passages_total=measured.passages + sum(revision.passages for revision in measured.in_work),
        bytes=done,
        bytes_total=total,
        seconds_left=None if started_at is None else _estimate(done, total, started_at, measured.at, now),
    )


def _estimate(done: int, total: int, started_at: float, at: float | None, now: float) -> int | None:
    """Returns the time that was left at the last change of progress, less the time since then."""
    seconds = (at or now) - started_at
    if seconds < _LEAST_SECONDS or done < _LEAST_SHARE * total or not done:
        return None
    return max(1, round(seconds * (total - done) / done - (now - (at or now))))

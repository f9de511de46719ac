"""Rules of claims: which revisions one claim takes, how documents and corpora take turns, and which revisions fail.

Rules of jobs come last: their state, who may cancel and resume them, when they count as abandoned, and their progress.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from core.errors import Conflict
from core.jobs import Job, JobKind, JobProgress, JobState, derive_job_state

CLAIMED_ALONE_AFTER = 4
"""A revision that was claimed this many times without an end is claimed alone: it may be what kills its workers."""

FAILED_AFTER = 8
"""A revision that was claimed this many times without an end fails."""

LONGEST_LEASE_SECONDS = 3600.0
"""No worker takes a longer lease. A lease that ends later was taken before the store's clock was set back, and counts
as expired. Otherwise a dead worker's claims would wait for as long as the clock was set back."""

SMALL_BYTES = 256_000
"""The largest content of a small document."""

_CLASS_FACTOR = 16


class ClaimableRow(Protocol):
    """The row of a claimable revision, with the columns `attempts` and `size`."""

    def __getitem__(self, column: str, /) -> Any: ...


Row = TypeVar("Row", bound=ClaimableRow)


def size_class(size: int, small: int = SMALL_BYTES) -> range:
    """Returns the sizes of the class of a document of `size` bytes.

    Small documents have at most `small` bytes; each further class ends at sixteen times the class before. Documents of
    one class are indexed one after the other, and documents of different classes take turns. So no document waits for a
    document that is more than sixteen times as large, and no stream of small documents keeps a large one waiting.
    """
    first, last = 0, small
    while size > last:
        first, last = last + 1, last * _CLASS_FACTOR
    return range(first, last + 1)


def next_corpus(waiting: Collection[str], after: str, *, leaving_out: Collection[str] = ()) -> str | None:
    """Returns the corpus that follows the corpus `after`: the next by id, in a circle, and itself last."""
    left = sorted(set(waiting) - set(leaving_out))
    return next((corpus_id for corpus_id in left if corpus_id > after), left[0] if left else None)


def is_suspect(row: ClaimableRow) -> bool:
    """Whether a revision is claimed alone."""
    return bool(row["attempts"] >= CLAIMED_ALONE_AFTER)


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Returns the revisions that can be claimed, and the revisions that fail instead."""
    hopeless = [row for row in rows if row["attempts"] >= FAILED_AFTER]
    return [row for row in rows if row["attempts"] < FAILED_AFTER], hopeless


def failure_reason(attempts: int) -> str:
    """Returns the reason of a revision that fails because it was claimed so often."""
    return f"the worker died or lost its lease {attempts} times on this document"


def fit_batch(rows: Sequence[Row], max_bytes: int) -> list[Row]:
    """Returns the first rows with at most `max_bytes` of content together, but at least one.

    The rows are in the order of the queue with suspect rows last. A suspect row is returned alone.
    """
    batch: list[Row] = []
    total = 0
    for row in rows:
        if batch and (is_suspect(row) or total + row["size"] > max_bytes):
            break
        batch.append(row)
        total += row["size"]
        if is_suspect(row):
            break
    return batch


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
    """Returns the error of `Jobs.resume` for a job without paused revisions, or with none that the caller sees."""
    if job.state is JobState.PAUSED:
        return Conflict(f"job {job.id!r} has no paused document that this key sees")
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

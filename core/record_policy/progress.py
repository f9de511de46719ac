"""Rules of the progress of a job: what counts as done, and how long the rest takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.jobs import JobProgress

__all__ = ["MeasuredJob", "RevisionProgress", "measure_progress"]

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
    """What a record counts of a job: the bytes of all its revisions and of those that are final, the passages of those
    that are indexed, and the revisions in work. `at` is the time of the last change, in seconds by the record's clock.
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
    partly = sum(one.size * one.done // one.passages for one in measured.in_work if one.passages)
    total = max(measured.bytes_total, measured.bytes_done)
    done = min(measured.bytes_done + partly, total)
    return JobProgress(
        passages=measured.passages + sum(one.done for one in measured.in_work),
        passages_total=measured.passages + sum(one.passages for one in measured.in_work),
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

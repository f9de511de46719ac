"""Jobs: list, get, wait for, cancel, resume."""

import time
from dataclasses import dataclass

from hopweave._errors import WaitTimeoutError
from hopweave._steps import Listing, Pause, Steps, call, path
from hopweave._values.jobs import Job

__all__ = ["Started", "cancel_job", "get_job", "list_jobs", "resume_job", "wait_for_job"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


@dataclass(frozen=True, kw_only=True)
class Started:
    """The answer to a call that starts a job."""

    job: Job


def list_jobs(*, limit: int = 50) -> Steps[list[Job]]:
    """Returns up to `limit` jobs (at most 200), newest first."""
    listing = yield from call(Listing[Job], "GET", path("jobs"), limit=limit)
    return list(listing.data)


def get_job(job: str) -> Steps[Job]:
    """Returns the job with this id."""
    return call(Job, "GET", path("jobs", job))


def cancel_job(job: str) -> Steps[Job]:
    """Cancels the rest of a job and returns it. What is finished stays; a job that is over is returned as it is."""
    return call(Job, "POST", path("jobs", job, "cancel"))


def resume_job(job: str, *, budget_tokens: int | None = None) -> Steps[Job]:
    """Lets a paused job go on and returns it, with `budget_tokens` more to use, by default as many as the last time.

    Raises `ConflictError` for any other job.
    """
    body = {} if budget_tokens is None else {"budget": {"tokens": budget_tokens}}
    return call(Job, "POST", path("jobs", job, "resume"), body)


def wait_for_job(job: str, *, timeout: float | None = None) -> Steps[Job]:
    """Returns the job with this id once it is over or paused. A job that failed is returned, too.

    Raises `WaitTimeoutError` after `timeout` seconds; by default it waits as long as the job takes.
    """
    started = time.monotonic()
    pause = _FIRST_PAUSE
    while not (found := (yield from get_job(job))).is_settled:
        if timeout is not None and time.monotonic() - started + pause > timeout:
            raise WaitTimeoutError(f"job {job} is {found.state} after {timeout:g} s; it goes on")
        yield Pause(seconds=pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)
    return found

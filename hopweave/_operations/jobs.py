"""Jobs: list, get, wait for, cancel, resume."""

import time

from hopweave._errors import WaitTimeoutError
from hopweave._steps import Pause, Request, Steps, call, path, request
from hopweave.wire.jobs import Job, JobKind, JobList, JobState

__all__ = ["cancel_job", "followed", "get_job", "list_jobs", "resume_job", "wait_for_job"]

_PAGE = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


def list_jobs(
    *, corpus: str | None = None, kind: JobKind | None = None, state: JobState | None = None, limit: int | None = 50
) -> Steps[list[Job]]:
    """Returns the newest `limit` jobs (all for None) of this corpus, kind and state, newest first.

    `corpus` is the name that it had when the job was made.
    """
    found: list[Job] = []
    cursor: str | None = None
    while limit is None or len(found) < limit:
        count = _PAGE if limit is None else min(_PAGE, limit - len(found))
        page = yield from call(
            JobList, "GET", path("jobs"), corpus=corpus, kind=kind, state=state, limit=count, cursor=cursor
        )
        found += page.data
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def followed(job: str) -> Request:
    """Returns the request that is answered with the events of a job."""
    return request("GET", path("jobs", job, "events"))


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

"""Waits for a job while a worker processes it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from cli.output.console import print_status
from core.errors import Unavailable

if TYPE_CHECKING:
    from app.container import Container
    from app.supervision.supervision import Supervision
    from core.jobs import Job

    Watch = Callable[[Job, bool], None]


T = TypeVar("T")

_POLL_SECONDS = 0.2


async def wait_for_job(
    container: "Container", supervision: "Supervision", job: "Job", watch: "Watch" = lambda *_: None
) -> "Job":
    """Returns the job once it is final or paused; calls `watch` with each state before, and with whether the worker
    waits for something, such as room on the disk. Raises `Unavailable` if no worker starts.

    On servers a worker may start later, which is reported once. An unavailable record is retried for as long as workers
    retry it.
    """
    job_watch = supervision.watch_job()
    while True:
        try:
            job = await container.record.jobs.get(job.id)
        except Unavailable as error:
            message = job_watch.handle_outage(error)
        else:
            if job.settled:
                watch(job, False)
                return job
            message = job_watch.handle_state(job)
            watch(job, job_watch.is_waiting)
        if message:
            print_status(message)
        await asyncio.sleep(_POLL_SECONDS)


async def complete_job(container: "Container", job: "Job", watch: "Watch" = lambda *_: None) -> "Job":
    """Does the same as `wait_for_job`, and starts a worker if none runs."""
    with container.composition.supervise() as supervision:
        return await wait_for_job(container, supervision, job, watch)


async def read_after_job(supervision: "Supervision", read: "Callable[[], Awaitable[T]]") -> T:
    """Returns what `read` returns, which a command reports once its job has ended.

    On servers an unavailable record is retried as in `wait_for_job`: a server that has just been restarted may not
    answer for some seconds, and the work is done.
    """
    job_watch = supervision.watch_job()
    while True:
        try:
            return await read()
        except Unavailable as error:
            message = job_watch.handle_outage(error)
        if message:
            print_status(message)
        await asyncio.sleep(_POLL_SECONDS)

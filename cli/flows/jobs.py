"""Waits for a job while a worker processes it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from cli.output.console import print_status
from core.errors import Unavailable

if TYPE_CHECKING:
    from app.container import Container
    from app.worker.supervision import Supervision
    from core.jobs import Job
    from core.settings import Settings

__all__ = ["complete_job", "read_after_job", "wait_for_job"]

T = TypeVar("T")

_POLL_SECONDS = 0.2
_WORKER_PATIENCE = 60.0
_BEGINNING_SECONDS = 15.0


async def wait_for_job(
    container: "Container", supervision: "Supervision", job: "Job", watch: "Callable[[Job], None]" = lambda _: None
) -> "Job":
    """Returns the job once it is final or paused; calls `watch` with each state before. Raises `Unavailable` if no
    worker starts.

    On servers a worker may start later, which is reported once. An unavailable record is retried for as long as workers
    retry it.
    """
    on_servers = container.settings.on_servers
    presence = _RemoteWorkers(container.settings) if on_servers else _LocalWorker(supervision)
    while True:
        try:
            job = await container.record.jobs.get(job.id)
        except Unavailable as error:
            presence.missed(error)
        else:
            watch(job)
            if job.settled:
                return job
            presence.seen(job)
        await asyncio.sleep(_POLL_SECONDS)


async def complete_job(container: "Container", job: "Job", watch: "Callable[[Job], None]" = lambda _: None) -> "Job":
    """Does the same as `wait_for_job`, and starts a worker if none runs."""
    from app.worker.supervision import Supervision

    with Supervision(container.settings) as supervision:
        return await wait_for_job(container, supervision, job, watch)


async def read_after_job(container: "Container", read: "Callable[[], Awaitable[T]]") -> T:
    """Returns what `read` returns, which a command reports once its job has ended.

    On servers an unavailable record is retried as `wait_for_job` does: a server that has just been restarted may be
    silent for some seconds, and the work is done.
    """
    if not container.settings.on_servers:
        return await read()
    workers = _RemoteWorkers(container.settings)
    while True:
        try:
            return await read()
        except Unavailable as error:
            workers.missed(error)
        await asyncio.sleep(_POLL_SECONDS)


class _LocalWorker:
    """Watches the worker process of this machine."""

    def __init__(self, supervision: "Supervision") -> None:
        self._supervision = supervision
        self._last_seen = time.monotonic()

    def seen(self, _: "Job") -> None:
        if self._supervision.worker_pid() is not None:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > _WORKER_PATIENCE:
            log = self._supervision.log
            raise Unavailable(f"no worker has started; {log} says why. What is queued stays queued")

    def missed(self, error: Unavailable) -> None:
        raise error


class _RemoteWorkers:
    """Watches workers on other hosts through the job: it shows whether one has started."""

    def __init__(self, settings: "Settings") -> None:
        self._patience = 60 * settings.worker.retry_minutes
        self._began_waiting = self._last_answer = time.monotonic()
        self._said_no_worker = self._said_away = False

    def seen(self, job: "Job") -> None:
        self._last_answer, self._said_away = time.monotonic(), False
        if job.started_at is not None or self._said_no_worker:
            return
        if time.monotonic() - self._began_waiting > _BEGINNING_SECONDS:
            self._said_no_worker = True
            print_status("no worker has begun: start one with `hopweave worker`, here or on another host; waiting")

    def missed(self, error: Unavailable) -> None:
        if time.monotonic() - self._last_answer > self._patience:
            raise error
        if not self._said_away:
            self._said_away = True
            print_status(f"{error}; waiting, and nothing is lost")

"""Waiting for a job, with some worker at it."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import Unavailable

if TYPE_CHECKING:
    from app.container import Container
    from app.supervision import Supervision
    from core.jobs import Job

__all__ = ["finish", "finished"]

_POLL_SECONDS = 0.2
_WORKER_PATIENCE = 60.0


async def finished(
    container: "Container", supervision: "Supervision", job: "Job", watch: "Callable[[Job], None]" = lambda _: None
) -> "Job":
    """The job, once it is over or paused; `watch` sees it before. Raises `Unavailable` where no worker will start."""
    last_seen = time.monotonic()
    while True:
        job = await container.record.jobs.get(job.id)
        watch(job)
        if job.settled:
            return job
        if supervision.worker_pid() is not None:
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > _WORKER_PATIENCE:
            raise Unavailable(f"no worker has started; {supervision.log} says why. What is queued stays queued")
        await asyncio.sleep(_POLL_SECONDS)


async def finish(container: "Container", job: "Job", watch: "Callable[[Job], None]" = lambda _: None) -> "Job":
    """As `finished`, with a worker of our own if none runs."""
    from app.supervision import Supervision

    with Supervision(container.settings) as supervision:
        return await finished(container, supervision, job, watch)

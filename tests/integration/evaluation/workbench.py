"""The real stores, a worker in this process, and the embedder's twin: what a comparison needs, without a child."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.container import Container
from app.supervision.supervision import JobWatch, RemoteJobWatch
from core.settings import read_settings
from indexer import Worker, WorkerOptions
from tests.twins.embedder import TwinEmbedder

__all__ = ["EXAMPLE", "WorkerHere", "workbench"]

EXAMPLE = Path(__file__).parents[3] / "examples" / "musique-small"
_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=256_000, task_seconds=60, retry_seconds=0)


class WorkerHere:
    """Stands where `Supervision` does: the worker is this very process."""

    log = Path("no log")

    def worker_pid(self) -> int | None:
        return os.getpid()

    def wait_ready(self, timeout: float) -> bool:
        return True

    def watch_job(self) -> JobWatch:
        return RemoteJobWatch(60.0)


@asynccontextmanager
async def workbench(folder: Path, **settings: Any) -> AsyncIterator[Container]:
    """A container over a data folder, with a worker beside it."""
    container = Container(read_settings(data_dir=folder, **settings))
    container.embedder = TwinEmbedder(max_tokens=256)
    ended = asyncio.Event()
    working = asyncio.create_task(_work(container, ended))
    try:
        yield container
    finally:
        ended.set()
        await working
        await container.close()


async def _work(container: Container, ended: asyncio.Event) -> None:
    worker = Worker("here", container.indexing, _OPTIONS)
    while not ended.is_set():
        for corpus_id in await container.record.maintenance.list_corpora_with_work():
            await worker.work(corpus_id)
        await asyncio.sleep(0.02)

"""Worker processes over `tests.shared_folder`, and what tests hand in to them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from app.container import Container
from core.documents import Submission
from core.jobs import Job
from core.settings import read_settings
from tests.shared_folder import SharedFolder, embedded_by

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 90.0


class SharedWorker:
    """One process; its life hangs on a pipe, as that of every worker does."""

    def __init__(self, log: Path) -> None:
        reading, self._pipe = os.pipe()
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.shared_folder", "--parent", str(reading)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=output,
                stderr=output,
                pass_fds=(reading,),
            )
        os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._close()
        self._process.kill()
        self._process.wait()

    def send(self, what: signal.Signals) -> None:
        self._process.send_signal(what)

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        return self._process.wait(PATIENCE_SECONDS)

    def leave(self) -> int:
        """As at the end of its parent; returns the exit code."""
        self._close()
        return self.wait()

    def _close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def said(self) -> str:
        return self.log.read_text("utf-8")


@contextmanager
def shared_workers(folder: Path, count: int) -> Iterator[Sequence[SharedWorker]]:
    """Ready when the block begins; gone at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    workers = [SharedWorker(folder / f"worker-{n}.log") for n in range(count)]
    try:
        until(lambda: all("is ready" in worker.said() for worker in workers), "the workers are ready")
        yield workers
    finally:
        for worker in workers:
            worker.kill()


@asynccontextmanager
async def shared_container() -> AsyncIterator[Container]:
    container = SharedFolder(read_settings())
    try:
        yield container
    finally:
        await container.close()


def sentences(count: int, first: int = 0) -> list[Submission]:
    """Documents of one passage each."""
    return [
        Submission(key=f"{n}.txt", content=f"Person Number{n} lived in Town{n % 7}.".encode(), media_type="text/plain")
        for n in range(first, first + count)
    ]


async def finished(container: Container, job_id: str) -> Job:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (job := await container.record.jobs.get(job_id)).state.final:
        assert time.monotonic() < deadline, f"not done after {PATIENCE_SECONDS} s: {job}"
        await asyncio.sleep(0.05)
    return job


def at_work(folder: Path) -> set[int]:
    """The processes that embedded something."""
    return {int(file.name) for file in embedded_by(folder).glob("*")}


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not so after {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.05)

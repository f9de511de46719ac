"""Supervision: the port through which commands and the server make sure that a worker runs.

Job watches notice that a job will not proceed, because no worker runs or the record is unavailable. On servers, nothing
is supervised: `hopweave worker` starts the workers, on this host or on others.
"""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol

from app.supervision.folder_lock import Holder
from core.errors import Unavailable
from core.jobs import Job
from core.settings import Settings

_START_SECONDS = 60.0
_REPORT_SECONDS = 15.0
_REPEAT_SECONDS = 60.0


class JobWatch(Protocol):
    """Is told of each attempt to read the job. Both methods return a message for the user, or ''.

    `is_waiting`: the worker waits for something, such as room on the disk. Then the job goes on at an unknown time.
    """

    is_waiting: bool

    def handle_state(self, job: Job) -> str:
        """Call it with the job when the record has answered. Raises `Unavailable` if no worker will start."""
        ...

    def handle_outage(self, error: Unavailable) -> str:
        """Call it when the record has not answered. Raises the error if the outage has lasted too long."""
        ...


class LocalJobWatch:
    """For the worker process of a data folder, which must exist. `find_worker` returns it, `log` is its log file."""

    def __init__(self, find_worker: Callable[[], Holder | None], log: Path) -> None:
        self._find_worker = find_worker
        self._log = log
        self._last_seen = time.monotonic()
        self._reported, self._reported_at = "", 0.0
        self.is_waiting = False

    def handle_state(self, job: Job) -> str:  # noqa: ARG002  # part of the port
        worker = self._find_worker()
        self.is_waiting = worker is not None and bool(worker.waits_for)
        if worker is not None:
            self._last_seen = time.monotonic()
            return self._report(worker.waits_for)
        if time.monotonic() - self._last_seen > _START_SECONDS:
            raise Unavailable(
                f"no worker has started; {self._log} says why. What is queued stays queued, and the same command goes "
                "on"
            )
        return ""

    def handle_outage(self, error: Unavailable) -> str:
        raise error

    def _report(self, reason: str) -> str:
        now = time.monotonic()
        if not reason or (reason == self._reported and now - self._reported_at < _REPEAT_SECONDS):
            return ""
        self._reported, self._reported_at = reason, now
        return f"{reason}; waiting, and nothing is lost"


class RemoteJobWatch:
    """For workers on other hosts. The job shows whether one has started, which may happen later."""

    def __init__(self, retry_seconds: float) -> None:
        self._retry_seconds = retry_seconds
        self._started = self._last_answer = time.monotonic()
        self._reported_start = self._reported_outage = False
        self.is_waiting = False

    def handle_state(self, job: Job) -> str:
        self._last_answer, self._reported_outage = time.monotonic(), False
        if job.started_at is not None or self._reported_start:
            return ""
        if time.monotonic() - self._started <= _REPORT_SECONDS:
            return ""
        self._reported_start = True
        return "no worker has begun: start one with `hopweave worker`, here or on another host; waiting"

    def handle_outage(self, error: Unavailable) -> str:
        if time.monotonic() - self._last_answer > self._retry_seconds:
            raise error
        if self._reported_outage:
            return ""
        self._reported_outage = True
        return f"{error}; waiting, and nothing is lost"


class Supervision(Protocol):
    """A context manager. While its block lasts, workers run as far as this process is responsible for them."""

    def __enter__(self) -> "Supervision": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def begin_stop(self, seconds: float) -> None:
        """Asks the workers of this process to end, and returns at once. The end of the block waits for them, and kills
        workers that take longer than so many seconds from now.
        """
        ...

    @property
    def log(self) -> Path:
        """The log file of the workers of the data folder."""
        ...

    def worker_pid(self) -> int | None:
        """Returns the process that locks the data folder now, whoever started it, or None."""
        ...

    def wait_ready(self, timeout: float) -> bool:
        """Waits until a worker locks the data folder. Returns whether this happens within `timeout` seconds."""
        ...

    def watch_job(self) -> JobWatch:
        """Returns a watch for a caller that waits for a job."""
        ...


class RemoteWorkers:
    """Does nothing, and does not wait for a worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __enter__(self) -> "RemoteWorkers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def begin_stop(self, seconds: float) -> None: ...

    @property
    def log(self) -> Path:
        return self._settings.data_dir.resolve() / "worker.log"

    def worker_pid(self) -> int | None:
        return None

    def wait_ready(self, timeout: float) -> bool:  # noqa: ARG002  # part of the port
        return True

    def watch_job(self) -> JobWatch:
        return RemoteJobWatch(60 * self._settings.worker.retry_minutes)

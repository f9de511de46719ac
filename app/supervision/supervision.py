"""Supervision: the port through which commands and the server make sure that a worker runs."""

from pathlib import Path
from types import TracebackType
from typing import Protocol

from app.supervision.job_watch import JobWatch

__all__ = ["Supervision"]


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

"""Supervision on servers: none, since `hopweave worker` starts the workers, on this host or on others."""

from pathlib import Path
from types import TracebackType

from app.supervision.job_watch import JobWatch, RemoteJobWatch
from core.settings import Settings

__all__ = ["RemoteWorkers"]


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

"""Supervision of a data folder: keeps one worker running as long as a process here needs one."""

import contextlib
import logging
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from app.supervision.folder_lock import Holder, is_held, read_holder
from app.supervision.supervision import JobWatch, LocalJobWatch
from app.supervision.worker_pool import WorkerChild
from core.errors import FolderHeld, InvalidInput, Unavailable
from core.settings import Settings

_log = logging.getLogger("hopweave.worker")

_POLL_SECONDS = 0.3
_MAX_PAUSE = 10.0
_HEARTBEAT_SECONDS = 2.0  # after the machine slept, its worker gives a heartbeat within this time
_STOP_SECONDS = 35.0


class FolderSupervision:
    """While its block lasts, a worker locks the data folder: a running worker, or a child of this process.

    A worker that dies is replaced. A worker without a heartbeat for longer than a lease (it was stopped, or the machine
    hangs) is killed and replaced, whoever started it. The child ends with this process.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.data_dir.resolve()
        self._child: WorkerChild | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="supervision", daemon=True)
        self._pause = _POLL_SECONDS
        self._not_before = 0.0
        self._kill_at = float("inf")

    def __enter__(self) -> "FolderSupervision":
        """Raises `Unavailable` if the folder cannot be written."""
        _check_writable(self._folder)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._stop_child()

    def begin_stop(self, seconds: float) -> None:
        self._kill_at = time.monotonic() + seconds
        self._ended.set()
        self._thread.join()
        if self._child is not None:
            self._child.stop()

    @property
    def log(self) -> Path:
        return self._folder / "worker.log"

    def worker_pid(self) -> int | None:
        holder = self._find_worker()
        return holder.pid if holder else None

    def wait_ready(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.worker_pid() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def watch_job(self) -> JobWatch:
        return LocalJobWatch(self._find_worker, self.log)

    def _find_worker(self) -> Holder | None:
        return read_holder(self._folder) if is_held(self._folder) else None

    def _supervise(self) -> None:
        while not self._ended.is_set():
            try:
                self._look()
            except (
                OSError
            ) as error:  # no file can be opened or written now: a process has too many, or the disk is full
                self._not_before = time.monotonic() + _MAX_PAUSE
                _log.warning("no worker can be started or found in %s: %s", self._folder, error.strerror)
            self._ended.wait(_POLL_SECONDS)

    def _look(self) -> None:
        if self._child is not None and self._child.exit_code is not None:
            self._discard_child()
        if time.monotonic() < self._not_before:
            return
        if is_held(self._folder):
            self._kill_silent_worker()
        elif self._child is None:
            self._start_child()

    def _kill_silent_worker(self) -> None:
        """Kills the holder if it has been silent beyond its lease, and still is a moment later."""
        silent = self._find_silent_worker()
        if silent is None:
            return
        self._ended.wait(_HEARTBEAT_SECONDS)
        if self._find_silent_worker() == silent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(silent, signal.SIGKILL)

    def _find_silent_worker(self) -> int | None:
        holder = read_holder(self._folder)
        if holder is None or holder.silent_seconds <= self._settings.worker.lease_seconds or not _is_worker(holder.pid):
            return None
        return holder.pid

    def _start_child(self) -> None:
        # Until the worker has the lock; then it keeps the file within bounds.
        with open(self.log, "ab", opener=_open_private) as output:
            self._child = WorkerChild({"HOPWEAVE_DATA_DIR": str(self._folder)}, output, self.log)
        self._not_before = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _MAX_PAUSE)

    def _discard_child(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _stop_child(self) -> None:
        """Lets the child finish what it writes, and kills it if that takes too long."""
        child = self._child
        if child is None:
            return
        self._discard_child()
        if not child.wait(min(_STOP_SECONDS, self._kill_at - time.monotonic())):
            child.kill()


def supervise_until_signal(settings: Settings, concurrency: int, report: Callable[[str], None]) -> None:
    """Keeps the worker of the data folder running until SIGTERM or SIGINT. `report` receives messages for the user.

    Raises `InvalidInput` for more than one worker, and `FolderHeld` if a worker runs already.
    """
    if concurrency > 1:
        raise InvalidInput(
            f"--concurrency {concurrency}: a data folder has one worker, which uses all cores; for more workers, keep "
            "the record on a server (HOPWEAVE_STORE__RECORD=neo4j)"
        )
    if is_held(settings.data_dir):
        holder = read_holder(settings.data_dir)
        by = f"process {holder.pid}" if holder else "another process"
        raise FolderHeld(f"the data folder {settings.data_dir} is locked by {by}, which is already its worker")
    is_signalled = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: is_signalled.set())
    with FolderSupervision(settings) as supervision:
        report(f"working on {settings.data_dir}; the log is {supervision.log}")
        is_signalled.wait()
        report("stopping: finishing the current write")


def _open_private(path: str, flags: int) -> int:
    """Opens a file, which is created for this user alone."""
    return os.open(path, flags, 0o600)


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Unavailable(
            f"the data folder {folder} cannot be written ({error.strerror}): make it writable, or set "
            "HOPWEAVE_DATA_DIR to another folder"
        ) from error


def _is_worker(pid: int) -> bool:
    """Whether a process is a worker of Hopweave: process ids are used again."""
    try:
        return b"app.worker.worker_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self").exists()  # no such process; or no such file system, then the lock is trusted

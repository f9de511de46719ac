"""Keeping one worker alive for a data folder, as long as somebody here wants work done."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from types import TracebackType

from app.worker.child import Child
from app.worker.folder_lock import holder, is_held
from core.settings import Settings

__all__ = ["Supervision"]

_LOOK_SECONDS = 0.3
_LONGEST_PAUSE = 10.0
_HEARING_SECONDS = 2.0  # a machine that slept lets its worker beat once before it is judged
_FAREWELL_SECONDS = 35.0
_LARGEST_LOG = 10_000_000


class Supervision:
    """While its block lasts, some worker holds the data folder: the one that runs already, or a child of this process.

    A worker that dies is replaced; one from which nothing was heard for longer than a lease (it was stopped, or the
    machine hangs) is killed and replaced, whoever started it. The child ends with this process.

    On servers it does nothing: workers are started by `hopweave worker`, here or on other hosts.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.data_dir.resolve()
        self._child: Child | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="supervision", daemon=True)
        self._pause = _LOOK_SECONDS
        self._not_before = 0.0

    def __enter__(self) -> "Supervision":
        if self._settings.on_servers:
            return self
        self._folder.mkdir(parents=True, exist_ok=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        if not self._settings.on_servers:
            self._thread.join()
            self._dismiss()

    @property
    def log(self) -> Path:
        """Where workers of this folder write what happens to them."""
        return self._folder / "worker.log"

    def worker_pid(self) -> int | None:
        """The process that holds the folder now, whoever started it; None on servers, where nobody holds it."""
        if self._settings.on_servers:
            return None
        who = holder(self._folder) if is_held(self._folder) else None
        return who.pid if who else None

    def wait_ready(self, timeout: float) -> bool:
        """Wait until some worker holds the folder; on servers nobody is waited for."""
        if self._settings.on_servers:
            return True
        deadline = time.monotonic() + timeout
        while self.worker_pid() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def _keep(self) -> None:
        while not self._ended.is_set():
            if self._child is not None and self._child.ended() is not None:
                self._bury()
            if is_held(self._folder):
                self._replace_silent()
            elif self._child is None and time.monotonic() >= self._not_before:
                self._start()
            self._ended.wait(_LOOK_SECONDS)

    def _replace_silent(self) -> None:
        """Kill the holder if it has been silent beyond its lease, and still is when asked again."""
        silent = self._silent_worker()
        if silent is None:
            return
        self._ended.wait(_HEARING_SECONDS)
        if self._silent_worker() == silent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(silent, signal.SIGKILL)

    def _silent_worker(self) -> int | None:
        who = holder(self._folder)
        if who is None or who.silent_seconds <= self._settings.worker.lease_seconds or not _is_worker(who.pid):
            return None
        return who.pid

    def _start(self) -> None:
        log = self.log
        mode = "wb" if log.exists() and log.stat().st_size > _LARGEST_LOG else "ab"
        with log.open(mode) as output:
            self._child = Child({"HOPWEAVE_DATA_DIR": str(self._folder)}, output)
        self._not_before = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _bury(self) -> None:
        if self._child is not None:
            self._child.dismiss()
            self._child = None

    def _dismiss(self) -> None:
        """Close the pipe and let the child finish what it writes."""
        child = self._child
        if child is None:
            return
        self._bury()
        if not child.wait(_FAREWELL_SECONDS):
            child.kill()


def _is_worker(pid: int) -> bool:
    """Whether a process is a worker of ours: process ids are used again."""
    try:
        return b"app.worker.worker_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self").exists()  # no such process; or no such file system, then trust the lock

"""The lock of a data folder: one worker at a time may write the views, and it shows that it is alive.

The lock is an advisory one of the operating system, so it ends with its process, however that ends. Beside it lies the
holder's process id and a heartbeat, by which others tell a worker that was stopped (SIGSTOP) from one that works.
"""

import fcntl
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from core.errors import FolderHeld

__all__ = ["FolderLock", "Holder", "holder", "is_held"]

_LOCK = "worker.lock"
_HOLDER = "worker.json"
_BEAT_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds the lock, and for how many seconds nothing was heard of him."""

    pid: int
    silent_seconds: float


class FolderLock:
    """Held between `with` and its end; while held, a thread beats once a second."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = -1
        self._ended = threading.Event()

    def __enter__(self) -> "FolderLock":
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            who = holder(self._folder)
            by = f"process {who.pid}" if who else "another process"
            message = f"the data folder {self._folder} is held by {by}; stop that worker, or use another data folder"
            raise FolderHeld(message) from error
        written = self._folder / f"{_HOLDER}.{os.getpid()}"
        written.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        written.replace(self._folder / _HOLDER)
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        os.close(self._file)

    def _beat(self) -> None:
        while not self._ended.wait(_BEAT_SECONDS):
            os.utime(self._folder / _HOLDER)


def is_held(folder: Path) -> bool:
    """Whether some process holds the lock now."""
    path = folder / _LOCK
    if not path.exists():
        return False
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def holder(folder: Path) -> Holder | None:
    """The process that took the lock last; only meaningful while `is_held`."""
    path = folder / _HOLDER
    try:
        pid = int(json.loads(path.read_text(encoding="utf-8"))["pid"])
        return Holder(pid=pid, silent_seconds=max(0.0, time.time() - path.stat().st_mtime))
    except (FileNotFoundError, ValueError, KeyError):
        return None

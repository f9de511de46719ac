"""The lock of a data folder: one worker at a time writes the views, and shows that it is alive.

It is an advisory lock of the operating system, so it ends with its process, however that ends. Beside it are the
process id of the holder, what it waits for, and a heartbeat, by which others tell a worker that was stopped (SIGSTOP)
from a running worker.

It uses `try_lock` and not `filelock`: `is_held` is asked several times a second and must neither create nor change
the lock file, and the holder and its heartbeat would have to be kept beside it all the same.
"""

import contextlib
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from core.errors import FolderHeld
from core.execution.files import try_lock

_LOCK = "worker.lock"
_HOLDER = "worker.json"
_HEARTBEAT_SECONDS = 1.0
_HOLDER_BYTES = 4096
"""The file of the holder has this size from the beginning, and is written in place: also while the disk is full."""
_LONGEST_REASON = 500


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The process that holds the lock, the seconds since its last heartbeat, and why it waits ('': it works)."""

    pid: int
    silent_seconds: float
    waits_for: str = ""


class FolderLock:
    """A context manager that holds the lock. While it does, a thread gives a heartbeat every second.

    Raises `FolderHeld` if another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = -1
        self._ended = threading.Event()

    def __enter__(self) -> "FolderLock":
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not try_lock(self._file):
            os.close(self._file)
            holder = read_holder(self._folder)
            by = f"process {holder.pid}" if holder else "another process"
            raise FolderHeld(
                f"the data folder {self._folder} is held by {by}; stop that worker, or use another data folder"
            )
        self._write_holder("")
        threading.Thread(target=self._give_heartbeats, name="heartbeat", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        os.close(self._file)

    def report_waiting(self, reason: str) -> None:
        """Tells other processes why the holder waits; '' when it works again."""
        with contextlib.suppress(OSError):  # the holder's log has the reason, too
            self._write_holder(reason[:_LONGEST_REASON])

    def _write_holder(self, reason: str) -> None:
        text = json.dumps({"pid": os.getpid(), "waits_for": reason}).ljust(_HOLDER_BYTES)
        file = os.open(self._folder / _HOLDER, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(file, text.encode(), 0)
        finally:
            os.close(file)

    def _give_heartbeats(self) -> None:
        while not self._ended.wait(_HEARTBEAT_SECONDS):
            os.utime(self._folder / _HOLDER)


def is_held(folder: Path) -> bool:
    """Whether a process holds the lock now."""
    path = folder / _LOCK
    if not path.exists():
        return False
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        return not try_lock(file)
    finally:
        os.close(file)


def read_holder(folder: Path) -> Holder | None:
    """Returns the process that took the lock last. It holds the lock only while `is_held`."""
    path = folder / _HOLDER
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Holder(
            pid=int(fields["pid"]),
            silent_seconds=max(0.0, time.time() - path.stat().st_mtime),
            waits_for=str(fields.get("waits_for", "")),
        )
    except (FileNotFoundError, ValueError, KeyError):
        return None

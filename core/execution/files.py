"""Files that appear whole or not at all, locks on files, and files that are mapped into memory.

`FileMapping` also says whether a mapped file was changed since. Open it before mapping a file.
"""

import fcntl
import mmap
import os
import re
import secrets
import weakref
from pathlib import Path
from types import TracebackType
from typing import Self


def try_lock(file: int) -> bool:
    """Locks an open file or folder for this process. Returns False if another process holds the lock.

    It is an advisory lock of the operating system, on the file and not on its name. It ends when `file` and all copies
    of it are closed, and so with the process, however that ends. Raises `OSError` if the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(file: int) -> None:
    """Ends the lock of a file that stays open."""
    fcntl.flock(file, fcntl.LOCK_UN)


_NAME = re.compile(r"\.hopweave-[0-9a-f]{8}\.part")


class Draft:
    """A file under a hidden name beside `path`, which it replaces when it is complete. Else it is deleted.

    The process that writes it holds a lock on it. So the next draft in the folder finds what killed processes left, and
    deletes it. `hopweave/_transfer.py` does the same for the Python API.
    """

    def __init__(self, path: Path) -> None:
        """Raises `OSError`."""
        delete_abandoned(path.parent)
        self._path = path
        self._draft, file = _create(path.parent)
        self.file = os.fdopen(file, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.file.close()
        finally:
            self._draft.unlink(missing_ok=True)

    def keep(self) -> None:
        """Writes what is buffered to the disk, and replaces the file. Raises `OSError`."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self._draft.replace(self._path)


def delete_abandoned(folder: Path) -> None:
    """Deletes the drafts in a folder that no process is writing. What cannot be deleted stays."""
    for path in folder.glob(".hopweave-*.part"):
        if not _NAME.fullmatch(path.name):
            continue
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:  # renamed or deleted meanwhile, or another user's
            continue
        try:
            if try_lock(file):
                path.unlink(missing_ok=True)
        except OSError:  # the file system has no locks
            continue
        finally:
            os.close(file)


def _create(folder: Path) -> tuple[Path, int]:
    while True:
        path = folder / f".hopweave-{secrets.token_hex(4)}.part"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            try_lock(file)
        except OSError:  # the file system has no locks: nobody deletes drafts in it
            return path, file
        if os.fstat(file).st_nlink:
            return path, file
        os.close(file)  # another process has just taken it for abandoned


class FileMapping(mmap.mmap):
    """The pages of a file, which cannot be written to.

    Hopweave replaces mapped files by renaming others, so the file of a mapping never changes. If another program makes
    it shorter, the operating system ends each process that reads a page beyond its end (SIGBUS), without an exception.
    So ask `is_intact` before reading, and open the file again if it is not. That narrows the gap and does not close it:
    a file that becomes shorter while pages are read still ends the process.
    """

    _file: int
    _state: tuple[int, int]

    def __new__(cls, file: int) -> Self:
        """Maps an open file, which may be closed then. Raises `OSError`, and `ValueError` for an empty file."""
        state = _read_state(file)
        mapping = super().__new__(cls, file, state[0], access=mmap.ACCESS_READ)
        mapping._state = state
        mapping._file = os.dup(file)  # the file of `mmap` cannot be asked for the time of its last change
        weakref.finalize(mapping, os.close, mapping._file)
        return mapping

    def is_intact(self) -> bool:
        """Returns whether the file has the size and the time of its last change that it had when it was mapped."""
        return _read_state(self._file) == self._state


def _read_state(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_size, status.st_mtime_ns

"""Files that appear whole or not at all, and what processes leave that were killed while they wrote one."""

import fcntl
import os
import re
import secrets
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Draft", "delete_abandoned"]

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
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
        except OSError:  # it is being written, or the file system has no locks
            continue
        finally:
            os.close(file)


def _create(folder: Path) -> tuple[Path, int]:
    while True:
        path = folder / f".hopweave-{secrets.token_hex(4)}.part"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process has just taken it for abandoned
            pass
        except OSError:  # the file system has no locks: nobody deletes drafts in it
            return path, file
        if os.fstat(file).st_nlink:
            return path, file
        os.close(file)

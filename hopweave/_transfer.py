"""Files that are sent or received as they are, without being held in memory."""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

__all__ = ["Draft", "read_pieces"]

_PIECE = 1 << 18
_DIGIT = "[0-9a-f]"


def read_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


class Draft:
    """A file under a hidden name beside `path`, which it replaces when it is complete. Else it is deleted.

    The process that writes it holds a lock on it, so that the next draft in the folder deletes what killed processes
    left. The server does the same (`core/execution/files.py`).
    """

    def __init__(self, path: Path) -> None:
        _delete_abandoned(path.parent)
        self._path = path
        self._draft, self._file = _create(path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def write(self, piece: bytes) -> None:
        self._file.write(piece)

    def keep(self) -> int:
        """Replaces the file. Returns its size in bytes."""
        self._file.flush()
        self._draft.replace(self._path)
        return self._file.tell()


def _create(folder: Path) -> tuple[Path, BinaryIO]:
    while True:
        path = folder / f".hopweave-{secrets.token_hex(4)}.part"
        file = path.open("xb")
        _lock(file.fileno())
        if os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # another process has just taken it for abandoned


def _lock(file: int) -> bool:
    """Returns whether the lock was free, and is held now. It ends with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process holds it, or the file system has no locks
        return False
    return True


def _delete_abandoned(folder: Path) -> None:
    for path in folder.glob(f".hopweave-{_DIGIT * 8}.part"):
        with contextlib.suppress(OSError), path.open("rb") as file:  # it may be another user's, or gone
            if _lock(file.fileno()):
                path.unlink(missing_ok=True)

"""The folder of base files: one file for each collection, which one process at a time replaces."""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from stores.sqlite.vectors.mapped.base import VectorBase
from stores.sqlite.vectors.mapped.base_file import Header, UnreadableBase, read_header

__all__ = ["BaseFolder"]

T = TypeVar("T")

_log = logging.getLogger("hopweave.stores")

_SUFFIX = ".base"
_UNFINISHED = ".unfinished"
_LOCK = ".lock"
_LONGEST_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.05


class BaseFolder:
    """Files are named by the number of their collection, which is given once, and readable for the user alone.

    A file is replaced by renaming another one, so a process that maps the old one keeps it. Files may be deleted at any
    time. One that is damaged or of another release is an entry in the log, and deleted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logged: set[str] = set()

    def path_of(self, number: int) -> Path:
        return self._path / f"{number}{_SUFFIX}"

    def list(self) -> list[int]:
        """Returns the numbers of the collections that have a file."""
        names = [path.name.removesuffix(_SUFFIX) for path in self._path.glob(f"*{_SUFFIX}")]
        return sorted(int(name) for name in names if name.isdecimal())

    def read_header(self, number: int) -> Header | None:
        """Returns the header of a file; None without a file that can be read."""
        return self._read(number, read_header)

    def open(self, number: int) -> VectorBase | None:
        """Maps a file; None without one that can be read."""
        return self._read(number, VectorBase.open)

    def identify(self, number: int) -> tuple[int, int] | None:
        """Returns what tells a file from others that had its name before; None if there is none."""
        try:
            status = self.path_of(number).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def replace(self, number: int, write: Callable[[Path], None]) -> bool:
        """Calls `write` with the path of a new file, which then takes the place of the old one.

        Returns False, after a warning, if the folder or the file cannot be written to; the file is as it was then.
        """
        unfinished = self._path / f"{number}.{os.getpid()}-{threading.get_ident()}{_UNFINISHED}"
        began = time.monotonic()
        try:
            self._delete_unfinished(number)
            write(unfinished)
            unfinished.replace(self.path_of(number))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._log_once(
                logging.WARNING,
                f"vectors are in the memory of each process only, since {self._path} cannot be written ({reason}): "
                "correct that",
            )
            return False
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
        _log.info("the vectors of collection %d are written to a file in %.1f s", number, time.monotonic() - began)
        return True

    def delete(self, number: int) -> None:
        """Deletes the files of a collection; missing ones are no error."""
        with suppress(OSError):
            for path in (self.path_of(number), self._path / f"{number}{_LOCK}"):
                path.unlink(missing_ok=True)
            self._delete_unfinished(number)

    def delete_leftovers(self) -> None:
        """Deletes what processes left that were killed while they wrote a file."""
        numbers = {path.name.partition(".")[0] for path in self._path.glob(f"*{_UNFINISHED}")}
        for number in map(int, filter(str.isdecimal, numbers)):
            with self.locked(number, threading.Event(), wait=False) as held, suppress(OSError):
                if held:
                    self._delete_unfinished(number)

    @contextmanager
    def locked(self, number: int, stop: threading.Event, *, wait: bool) -> Iterator[bool]:
        """Holds the lock of writing the file of a collection; gives False if it cannot be had.

        The lock saves work and decides nothing. It ends with its process.
        """
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path / f"{number}{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield True  # writing fails as well, and names the reason
            return
        try:
            deadline = time.monotonic() + (_LONGEST_WAIT_SECONDS if wait else 0.0)
            while not (held := _try_lock(file)) and time.monotonic() < deadline and not stop.wait(_POLL_SECONDS):
                pass
            yield held
        finally:
            os.close(file)

    def _delete_unfinished(self, number: int) -> None:
        for path in self._path.glob(f"{number}.*{_UNFINISHED}"):
            path.unlink(missing_ok=True)

    def _read(self, number: int, read: Callable[[Path], T]) -> T | None:
        path = self.path_of(number)
        try:
            return read(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnreadableBase as error:
            self._log_once(logging.WARNING, f"the file of vectors {path} {error}: it is built again")
            with suppress(OSError):
                path.unlink(missing_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._log_once(logging.WARNING, f"the file of vectors {path} cannot be read ({reason})")
        return None

    def _log_once(self, level: int, message: str) -> None:
        if message not in self._logged:
            self._logged.add(message)
            _log.log(level, message)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

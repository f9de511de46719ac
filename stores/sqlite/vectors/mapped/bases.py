"""The folder of base files, and when they are opened, written and deleted. Open it when a start is slow, or files are
too old.

`BaseFolder` has one file for each collection, which one process at a time replaces. `Bases` decides.
"""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.execution.array_files import UnreadableFile
from core.execution.files import try_lock
from core.ports.views import VectorKind
from stores.sqlite.vectors.mapped.base import ChangedFile, DamagedRows, MappedSnapshot, VectorBase
from stores.sqlite.vectors.mapped.base_file import Header, read_header
from stores.sqlite.vectors.mapped.building import write_base
from stores.sqlite.vectors.rows import (
    Collection,
    ConnectionPool,
    count_rows,
    list_collections,
    read_after,
    read_collection,
    read_deleted_places,
    read_ids_at,
    read_oldest_removal,
    read_places,
)

T = TypeVar("T")

_log = logging.getLogger("hopweave.stores")

_SUFFIX = ".base"
_UNFINISHED = ".unfinished"
_LOCK = ".lock"
_LONGEST_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.05


class BaseFolder:
    """Files are named by the number of their collection, which is given once, and readable for the user alone.

    A file is replaced by renaming a new file, so a process that maps the old file keeps it. Files may be deleted at any
    time. A file that is damaged or of another release is logged and deleted.
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
        """Maps a file; None if there is no readable file."""
        return self._read(number, VectorBase.open)

    def identify(self, number: int) -> tuple[int, int] | None:
        """Returns what tells a file from earlier files of its name; None if there is no file."""
        try:
            status = self.path_of(number).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def replace(self, number: int, write: Callable[[Path], None]) -> bool:
        """Calls `write` with the path of a new file, which then replaces the old file.

        Returns False, after a warning, if the folder or the file cannot be written to; the old file then stays.
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
        """Deletes the files of a collection, if they exist."""
        with suppress(OSError):
            for path in (self.path_of(number), self._path / f"{number}{_LOCK}"):
                path.unlink(missing_ok=True)
            self._delete_unfinished(number)

    def delete_leftovers(self) -> None:
        """Deletes unfinished files of killed processes."""
        numbers = {path.name.partition(".")[0] for path in self._path.glob(f"*{_UNFINISHED}")}
        for number in map(int, filter(str.isdecimal, numbers)):
            with self.locked(number, threading.Event(), wait=False) as held, suppress(OSError):
                if held:
                    self._delete_unfinished(number)

    @contextmanager
    def locked(self, number: int, stop: threading.Event, *, wait: bool) -> Iterator[bool]:
        """Holds the lock of writing the file of a collection; yields False if it cannot be taken.

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
            while not (held := try_lock(file)) and time.monotonic() < deadline and not stop.wait(_POLL_SECONDS):
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
        except UnreadableFile as error:
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


_COMPARED = 64
"""The number of rows of a file that are compared with the store at opening: the store may have been replaced."""


@dataclass(frozen=True, kw_only=True)
class BasePolicy:
    """When a collection has a file, and when that is written again.

    Up to `exact_rows` a search compares all vectors, which takes 5 ms for 50,000, and each process holds them in its
    memory (75 MB). A file is written again when the rows after it, or those deleted from it, are more than `share` of
    it (`quiet_share` if nothing was written for `quiet_seconds`) and more than `least_rows`, or when it has held
    deleted rows for `deleted_seconds`. Each process looks every `poll_seconds`, and tries a file that could not be
    written again after `retry_seconds`.

    A search compares all rows after the file, which for a sixteenth of a million takes as long as the million itself.
    Writing a file while rows come in would copy it more often, so it is written when no more come.
    """

    exact_rows: int = 50_000
    least_rows: int = 10_000
    share: float = 1 / 16
    quiet_share: float = 1 / 64
    quiet_seconds: float = 30.0
    deleted_seconds: float = 300.0
    poll_seconds: float = 5.0
    retry_seconds: float = 60.0


class Bases:
    """The bases of one store."""

    def __init__(self, pool: ConnectionPool, folder: BaseFolder, policy: BasePolicy) -> None:
        self.folder = folder
        self.policy = policy
        self.stop = threading.Event()
        """Ends the writing of a file."""
        self._pool = pool
        self._failed: dict[int, float] = {}
        """When the file of a collection could not be written last, by the monotonic clock."""

    def open(self, db: sqlite3.Connection, collection: Collection) -> MappedSnapshot | None:
        """Returns the collection as its file and the changes since show it; None without a file of this collection."""
        base = self.folder.open(collection.number)
        if base is None:
            return None
        if 2 * len(base) <= self.policy.exact_rows:  # the setting was raised
            self.folder.delete(collection.number)
            return None
        try:
            snapshot = None if _is_foreign(base.header, collection) else follow(db, collection, base)
        except ChangedFile:
            snapshot = None
        if snapshot is None:
            _log.warning("the file of vectors %s is of other data: it is built again", base.path)
            self.folder.delete(collection.number)
        return snapshot

    def build(self, corpus_id: str, kind: VectorKind, *, wait: bool, known: tuple[int, int] | None = None) -> None:
        """Writes the file of a collection. If another process is writing it, only waits for that process.

        Does nothing if the file is no longer the `known` file. Raises `BuildStopped` when the store is closed.
        """
        with self._pool.reading() as db:
            collection = read_collection(db, corpus_id, kind)
        if collection is None:
            return
        number = collection.number
        with self.folder.locked(number, self.stop, wait=wait) as held:
            if held and self.folder.identify(number) == known:
                with self._pool.reading() as db:
                    collection = read_collection(db, corpus_id, kind)
                    if collection is None or collection.number != number:
                        return
                    self._write(db, (corpus_id, kind), collection)
        with self._pool.reading() as db:
            collection = read_collection(db, corpus_id, kind)
        if collection is None or collection.number != number:  # the corpus was deleted meanwhile
            self.folder.delete(number)

    def _write(self, db: sqlite3.Connection, key: tuple[str, VectorKind], collection: Collection) -> None:
        if 2 * count_rows(db, collection) <= self.policy.exact_rows or not count_rows(db, collection):
            self.folder.delete(collection.number)  # the collection has become small
            return
        last, stop = self.open(db, collection), self.stop

        def write(path: Path) -> None:
            write_base(db, path, key, collection, last, stop)

        try:
            is_written = self.folder.replace(collection.number, write)
        except DamagedRows as damage:
            _log.warning("the file of vectors %s is damaged: it is built again", damage.path)
            last = None
            is_written = self.folder.replace(collection.number, write)
        if is_written:
            self._failed.pop(collection.number, None)
        else:
            self._failed[collection.number] = time.monotonic()

    def delete_damaged(self, number: int, damage: DamagedRows) -> None:
        """Deletes a file with damaged rows, unless it was replaced since."""
        if self.folder.identify(number) == damage.identity:
            self.folder.delete(number)

    def has_failed(self, number: int) -> bool:
        """Whether a file could not be written, and it is too early to try that again."""
        at = self._failed.get(number)
        return at is not None and time.monotonic() - at < self.policy.retry_seconds

    def is_due(self, db: sqlite3.Connection, collection: Collection, header: Header, *, is_quiet: bool) -> bool:
        """Whether a file should be written again. `is_quiet`: nothing was written for `quiet_seconds`."""
        if _is_foreign(header, collection) or collection.forgotten > header.change:
            return True
        oldest = read_oldest_removal(db, collection, header.change, header.last_place)
        if oldest is not None and not 0 <= time.time() - oldest <= self.policy.deleted_seconds:
            return True  # also if the clock was put back since
        share = self.policy.quiet_share if is_quiet else self.policy.share
        least = max(self.policy.least_rows, int(share * header.rows))
        added = count_rows(db, collection, after=header.last_place)
        deleted = len(read_deleted_places(db, collection, header.change)) if oldest is not None else 0
        return max(added, deleted) > least

    def clean(self, *, outdated: bool = False) -> int:
        """Deletes the files of collections that do not exist, and returns how many. Also deletes unfinished files.

        With `outdated`, files from which something was deleted are deleted, too.
        """
        self.folder.delete_leftovers()
        with self._pool.reading() as db:
            present = {collection.number: collection for _, _, collection in list_collections(db)}
            deleted = 0
            for number in self.folder.list():
                header, collection = self.folder.read_header(number), present.get(number)
                if header is None or collection is None or _is_foreign(header, collection):
                    is_wanted = False
                else:
                    removed = read_oldest_removal(db, collection, header.change, header.last_place) is not None
                    is_wanted = not (outdated and (removed or collection.forgotten > header.change))
                if not is_wanted:
                    self.folder.delete(number)
                    deleted += 1
        return deleted


def follow(db: sqlite3.Connection, collection: Collection, base: VectorBase) -> MappedSnapshot | None:
    """Returns the collection now, from its base; None if the base is of other data."""
    if collection.forgotten <= base.header.change:
        gone = np.array(read_deleted_places(db, collection, base.header.change), dtype=np.int64)
    else:
        gone = find_gone(db, collection, base.places)
    snapshot = MappedSnapshot.over(base).without(gone)
    if not _is_of(db, collection, snapshot):
        return None
    for rows in read_after(db, collection, base.header.last_place):
        snapshot = snapshot.extended(*rows)
    return snapshot


def find_gone(db: sqlite3.Connection, collection: Collection, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the `places` that have no row any more."""
    return np.setdiff1d(places, read_places(db, collection), assume_unique=True)


def _is_foreign(header: Header, collection: Collection) -> bool:
    """Whether a file is of another collection, or of a later state: the store was restored to an older state."""
    return (header.collection, header.dimension) != (
        collection.number,
        collection.dimension,
    ) or header.change > collection.change


def _is_of(db: sqlite3.Connection, collection: Collection, snapshot: MappedSnapshot) -> bool:
    """Compares some rows of a base with the store: the last rows, and others spread evenly."""
    base = snapshot.base
    rows = np.arange(len(base)) if snapshot.alive is None else np.flatnonzero(snapshot.alive)
    chosen = np.unique(np.concatenate([rows[:: max(1, len(rows) // _COMPARED)], rows[-_COMPARED:]]))
    places = base.places[chosen].tolist()
    return read_ids_at(db, collection, places) == dict(zip(places, base.read_ids(chosen), strict=True))

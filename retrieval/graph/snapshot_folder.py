"""The folder of snapshot files: one file for each corpus, which one process at a time replaces.

`LoggedFolder` is the folder for callers that can do without it: errors are logged once, and end in None.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from core.errors import InvalidInput
from core.execution.array_files import OutdatedFile, UnreadableFile
from core.execution.files import try_lock
from core.telemetry.logs import log_event
from retrieval.graph.compaction import encode_compacted
from retrieval.graph.layered import LayeredSnapshot
from retrieval.graph.snapshot import FlatSnapshot, GraphSnapshot
from retrieval.graph.snapshot_format import (
    LAYOUT,
    ArrayFile,
    FileContent,
    decode_snapshot,
    encode_snapshot,
    read_array_file,
    read_generation,
    write_array_file,
)

_SUFFIX = ".graph"
_UNFINISHED = ".unfinished"
_BUILDING = ".building"
_ID = re.compile(r"[0-9a-f]{8,128}")
_LOCK_SECONDS = 30.0
_POLL_SECONDS = 0.05


class SnapshotFile(NamedTuple):
    """The generation of a file, and the seconds since it was written."""

    generation: int
    age_seconds: float


class BuildLock:
    """A lock of the operating system on a file that is deleted with it. It ends with its process."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file = file

    def release(self) -> None:
        """Does nothing if the lock was released before."""
        if self._file >= 0:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


class SnapshotFolder:
    """Reads, writes and deletes the files. They are readable for the user alone.

    A file is replaced by renaming a new file, so that a process that maps the old file keeps it. The lock is on the
    folder itself, and ends with its process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def path_of(self, corpus_id: str) -> Path:
        """Raises `InvalidInput` for an id that could name a path outside."""
        if not _ID.fullmatch(corpus_id):
            raise InvalidInput(f"corpus id {corpus_id!r} is not valid: ids are 8 to 128 of the digits 0-9 and a-f")
        return self._path / f"{corpus_id}{_SUFFIX}"

    def read(self, corpus_id: str, *, check: bool = False) -> ArrayFile | None:
        """Returns the content of the file of a corpus; None without a file. With `check`, all of it is read.

        Raises `UnreadableFile` and `OSError`.
        """
        try:
            return read_array_file(self.path_of(corpus_id), LAYOUT, corpus_id, check=check)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def describe(self, corpus_id: str) -> SnapshotFile | None:
        """Returns what the header of the file of a corpus says; None without a file that can be read."""
        path = self.path_of(corpus_id)
        try:
            generation = read_generation(path, LAYOUT, corpus_id)
            age_seconds = time.time() - path.stat().st_mtime
        except (OSError, UnreadableFile):
            return None
        return None if generation is None else SnapshotFile(generation, age_seconds)

    def write(self, content: FileContent, stop: threading.Event | None = None) -> bool:
        """Writes the file of a corpus, unless it has this or a later generation already. Returns whether it did.

        Waits while another process writes, thirty seconds at most and until `stop` is set. Raises `OSError`; then the
        file is as it was before.
        """
        target = self.path_of(content.corpus_id)
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(stop or threading.Event()):
            self._delete_unfinished()
            present = self.describe(content.corpus_id)
            if present is not None and present.generation >= content.generation:
                return False
            unfinished = target.with_name(target.name + _UNFINISHED)
            try:
                with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    write_array_file(file, content)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(target)
            finally:
                unfinished.unlink(missing_ok=True)
        return True

    def delete(self, corpus_id: str) -> None:
        """Deletes the file of a corpus; a missing file is no error. Raises `OSError`."""
        self.path_of(corpus_id).unlink(missing_ok=True)

    def list_corpora(self) -> list[str]:
        """Returns the ids of the corpora that have a file."""
        names = [path.name for path in self._path.glob(f"*{_SUFFIX}")]
        return sorted(id for name in names if _ID.fullmatch(id := name.removesuffix(_SUFFIX)))

    def try_build_lock(self, corpus_id: str) -> BuildLock | None:
        """Returns the lock of building the snapshot of a corpus; None if another process holds it.

        It saves work and decides nothing: two processes may hold it in rare cases. Raises `OSError`.
        """
        path = self.path_of(corpus_id).with_suffix(_BUILDING)
        self._path.mkdir(mode=0o700, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if try_lock(file):
            return BuildLock(path, file)
        os.close(file)
        return None

    def delete_leftovers(self) -> None:
        """Deletes what processes left that were killed while they built or wrote a snapshot. Raises `OSError`."""
        for path in self._path.glob(f"*{_BUILDING}"):
            lock = self.try_build_lock(path.name.removesuffix(_BUILDING))
            if lock is not None:
                lock.release()
        if any(self._path.glob(f"*{_UNFINISHED}")):
            with self._locked(threading.Event()):
                self._delete_unfinished()

    def _delete_unfinished(self) -> None:
        for path in self._path.glob(f"*{_UNFINISHED}"):
            path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, stop: threading.Event) -> Iterator[None]:
        """Holds the lock of the folder. Raises `TimeoutError` if another process holds it for too long."""
        folder = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            deadline = time.monotonic() + _LOCK_SECONDS
            while not try_lock(folder):
                if time.monotonic() > deadline or stop.wait(_POLL_SECONDS):
                    raise TimeoutError("another process holds the lock of the folder")
            yield
        finally:
            os.close(folder)


_log = logging.getLogger("hopweave.retrieval")


class LoggedFolder:
    """Each message is logged once for a process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = SnapshotFolder(path)
        self._logged: set[str] = set()

    def describe(self, corpus_id: str) -> SnapshotFile | None:
        return self._folder.describe(corpus_id)

    def list_corpora(self) -> list[str]:
        return self._folder.list_corpora()

    def try_build_lock(self, corpus_id: str) -> BuildLock | None:
        """Raises `OSError`: the file cannot be written then, and that names the reason."""
        return self._folder.try_build_lock(corpus_id)

    def write(self, corpus_id: str, snapshot: GraphSnapshot, stop: threading.Event) -> GraphSnapshot | None:
        """Writes a snapshot, and returns its equal that is mapped from the file, which may be another process'.

        Returns None if the file could not be written, or is of a later generation. Ends waiting when `stop` is set.
        """
        began = time.monotonic()
        try:
            present = self._folder.describe(corpus_id)
            is_written = present is None or present.generation < snapshot.generation
            is_written = is_written and self._folder.write(_encode(corpus_id, snapshot), stop)
        except TimeoutError:
            _log.info("the snapshot of corpus %s is in memory only: another process writes for long", corpus_id)
            return None
        except OSError as error:
            self._log_once(
                logging.WARNING,
                f"snapshots of corpus {corpus_id} are in memory only, since {self._path} cannot be written "
                f"({(error.strerror or str(error)).lower()}); correct that, or set "
                "HOPWEAVE_STORE__MAPPED_SNAPSHOTS=false",
            )
            return None
        if is_written:
            seconds = round(time.monotonic() - began, 2)
            chunks = snapshot.whole.passages
            log_event(_log, logging.INFO, "snapshot written", corpus=corpus_id, passages=chunks, seconds=seconds)
        mapped = self.read(corpus_id)
        return None if mapped is None or mapped.generation != snapshot.generation else mapped

    def read(self, corpus_id: str, *, check: bool = False) -> FlatSnapshot | None:
        """Returns the snapshot of a file; None without a usable file. A damaged file is deleted."""
        try:
            content = self._folder.read(corpus_id, check=check)
            return None if content is None else decode_snapshot(content)
        except UnreadableFile as error:
            level = logging.INFO if isinstance(error, OutdatedFile) else logging.WARNING
            self._log_once(level, f"{self._folder.path_of(corpus_id)} {error}; the snapshot is built again")
            self.delete(corpus_id)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._log_once(
                logging.WARNING,
                f"{self._folder.path_of(corpus_id)} cannot be read ({reason}); the snapshot is built again",
            )
        return None

    def delete(self, corpus_id: str) -> None:
        try:
            self._folder.delete(corpus_id)
        except OSError as error:
            self._log_failed_deletion(error)

    def delete_leftovers(self) -> None:
        try:
            self._folder.delete_leftovers()
        except OSError as error:
            self._log_failed_deletion(error)

    def _log_failed_deletion(self, error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        self._log_once(logging.WARNING, f"a snapshot in {self._path} cannot be deleted ({reason}); delete it by hand")

    def _log_once(self, level: int, message: str) -> None:
        if message not in self._logged:
            self._logged.add(message)
            _log.log(level, "%s", message)


def _encode(corpus_id: str, snapshot: GraphSnapshot) -> FileContent:
    if isinstance(snapshot, LayeredSnapshot):
        return encode_compacted(corpus_id, snapshot)
    return encode_snapshot(corpus_id, snapshot.flat())

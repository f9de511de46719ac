"""The folder of snapshot files for those who can do without it: errors are logged once, and end in None."""

import logging
import threading
import time
from pathlib import Path

from core.telemetry.log_events import log_event
from retrieval.graph.compaction.encoding import encode_compacted
from retrieval.graph.flat import FlatSnapshot
from retrieval.graph.layers.layered import LayeredSnapshot
from retrieval.graph.mapped.array_file import FileContent, OutdatedFile, UnreadableFile
from retrieval.graph.mapped.layout import decode_snapshot, encode_snapshot
from retrieval.graph.mapped.snapshot_folder import BuildLock, SnapshotFile, SnapshotFolder
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["LoggedFolder"]

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
        """Returns the snapshot of a file; None if there is none that can be used. A damaged file is deleted."""
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

"""The thread that keeps the files of a store up to date, while searches and writes go on."""

import logging
import threading
import time

from core.errors import HopweaveError
from core.ports.views import VectorKind
from stores.sqlite.vectors.mapped import signs
from stores.sqlite.vectors.mapped.bases import Bases
from stores.sqlite.vectors.mapped.building import BuildStopped
from stores.sqlite.vectors.pool import ConnectionPool
from stores.sqlite.vectors.rows import Collection, count_rows, list_collections
from stores.sqlite.vectors.snapshots import VectorSnapshots

__all__ = ["Upkeep"]

_log = logging.getLogger("hopweave.stores")

_SEARCHES = 8
"""A process that has made so many searches compiles them: it is not a command that makes one and ends."""


class Upkeep:
    """Writes files that are due, deletes those of deleted corpora, and takes up what other processes have written."""

    def __init__(self, pool: ConnectionPool, bases: Bases, snapshots: VectorSnapshots) -> None:
        self._pool = pool
        self._bases = bases
        self._snapshots = snapshots
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._searches = 0
        self._changes: dict[int, tuple[int, float]] = {}
        """The last change of each collection, and since when there was none after it, by the monotonic clock."""
        self._small: dict[int, int] = {}
        """The last change of collections that were too small for a file."""

    def start(self, rows: int) -> None:
        """Starts the thread, if it does not run and so many rows may need a file."""
        if rows <= self._bases.policy.exact_rows or self._thread is not None:
            return
        with self._starting:
            if self._thread is None:
                stop = self._bases.stop
                self._thread = threading.Thread(target=self._run, args=(stop,), name="vector files", daemon=True)
                self._thread.start()

    def count_search(self) -> None:
        """Tells the thread that a file was searched."""
        self._searches += 1

    def look(self) -> None:
        """Looks at all collections once, and compiles searches if there are many."""
        if self._searches >= _SEARCHES:
            signs.warm()
        self._bases.clean()
        with self._pool.reading() as db:
            collections = list_collections(db)
        self._changes = {collection.number: self._read_change(collection) for _, _, collection in collections}
        for corpus_id, kind, collection in collections:
            known = self._bases.folder.identify(collection.number)
            if self._is_due(collection):
                self._bases.build(corpus_id, kind, wait=False, known=known)
            self._snapshots.adopt(corpus_id, VectorKind(kind))

    def close(self) -> None:
        """Ends the thread. A file that it writes is left as it was before."""
        with self._starting:
            self._bases.stop.set()
            self._bases.stop = threading.Event()  # a later call opens the store again
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _read_change(self, collection: Collection) -> tuple[int, float]:
        known = self._changes.get(collection.number)
        return known if known and known[0] == collection.change else (collection.change, time.monotonic())

    def _is_due(self, collection: Collection) -> bool:
        if self._bases.has_failed(collection.number):
            return False
        header = self._bases.folder.read_header(collection.number)
        if header is None and self._small.get(collection.number) == collection.change:
            return False
        with self._pool.reading() as db:
            if header is not None:
                seconds = time.monotonic() - self._changes[collection.number][1]
                is_quiet = seconds >= self._bases.policy.quiet_seconds
                return self._bases.is_due(db, collection, header, is_quiet=is_quiet)
            if count_rows(db, collection) > self._bases.policy.exact_rows:
                return True
        self._small[collection.number] = collection.change
        return False

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self._bases.policy.poll_seconds):
            try:
                self.look()
            except BuildStopped:
                return
            except HopweaveError as error:
                _log.info("the files of vectors are not kept up to date: %s", error)

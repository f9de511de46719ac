"""Snapshots of collections, which follow the commits of every process: in memory, or over a file if they are large.

`Upkeep` is the thread that keeps the files of a store up to date, while searches and writes go on.
"""

import logging
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from core.errors import HopweaveError
from core.ports.views import VectorKind
from stores.exact_search import VectorSnapshot
from stores.sqlite.vectors.mapped import signs
from stores.sqlite.vectors.mapped.base import ChangedFile, DamagedRows, MappedSnapshot
from stores.sqlite.vectors.mapped.bases import Bases, find_gone
from stores.sqlite.vectors.mapped.building import BuildStopped
from stores.sqlite.vectors.rows import (
    Collection,
    ConnectionPool,
    count_rows,
    list_collections,
    read_after,
    read_collection,
    read_deleted_places,
)

_log = logging.getLogger("hopweave.stores")


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectionSnapshot:
    """A snapshot, the collection as it was then, and the version of the file up to which nothing is newer."""

    version: int
    collection: Collection
    vectors: VectorSnapshot | MappedSnapshot

    @property
    def mapped(self) -> tuple[int, int] | None:
        """What identifies the file over which the snapshot lies; None if it is in memory."""
        return self.vectors.base.identity if isinstance(self.vectors, MappedSnapshot) else None


@dataclass(slots=True)
class _LatestSnapshot:
    """The newest snapshot of one collection, and the lock that a thread holds while it reads a newer snapshot."""

    lock: Lock = field(default_factory=Lock)
    snapshot: CollectionSnapshot | None = None


class VectorSnapshots:
    """The newest snapshot of each collection."""

    def __init__(self, pool: ConnectionPool, bases: Bases) -> None:
        self._pool = pool
        self._bases = bases
        self._latest: dict[tuple[str, VectorKind], _LatestSnapshot] = {}

    def get(self, corpus_id: str, kind: VectorKind) -> CollectionSnapshot | None:
        """Returns a snapshot with everything that was committed before this call; None if there is no collection."""
        latest = self._latest.setdefault((corpus_id, kind), _LatestSnapshot())
        snapshot = latest.snapshot
        if snapshot is not None and snapshot.version == self._pool.version():
            return snapshot
        with latest.lock:
            version = self._pool.version()
            snapshot = latest.snapshot
            if snapshot is None or snapshot.version != version:
                snapshot = latest.snapshot = self._read(corpus_id, kind, version, snapshot)
        if snapshot is None:
            self._latest.pop((corpus_id, kind), None)
        return snapshot

    def held(self, corpus_id: str, kind: VectorKind) -> CollectionSnapshot | None:
        """Returns the snapshot with everything that was committed before this call, unless it would have to be read."""
        latest = self._latest.get((corpus_id, kind))
        snapshot = None if latest is None else latest.snapshot
        return snapshot if snapshot is not None and snapshot.version == self._pool.version() else None

    def adopt(self, corpus_id: str, kind: VectorKind) -> None:
        """Replaces a snapshot of another file, or in memory, by a snapshot over the present file."""
        latest = self._latest.get((corpus_id, kind))
        held = None if latest is None else latest.snapshot
        if latest is None or held is None:
            return
        present = self._bases.folder.identify(held.collection.number)
        if present == held.mapped:
            return
        version, vectors = self._pool.version(), None
        with self._pool.reading() as db:
            collection = read_collection(db, corpus_id, kind)
            if collection is not None and present is not None:
                vectors = self._bases.open(db, collection)
        with latest.lock:  # of an older version: the next search follows what was committed since
            if collection is None or vectors is None:
                latest.snapshot = None
            else:
                latest.snapshot = CollectionSnapshot(version=version, collection=collection, vectors=vectors)

    def discard_damaged(self, corpus_id: str, kind: VectorKind, damage: DamagedRows) -> None:
        """Deletes a file of which rows are damaged, and discards the snapshot over it.

        The next search builds the file again. If the file was `ChangedFile`, the next search opens it again, which
        finds the damage.
        """
        latest = self._latest.get((corpus_id, kind))
        snapshot = None if latest is None else latest.snapshot
        if latest is None or snapshot is None:
            return
        with latest.lock:
            if isinstance(snapshot.vectors, MappedSnapshot) and snapshot.mapped == damage.identity:
                if not isinstance(damage, ChangedFile):
                    _log.warning("the file of vectors %s is damaged: it is built again", damage.path)
                    self._bases.delete_damaged(snapshot.collection.number, damage)
                if latest.snapshot is snapshot:
                    latest.snapshot = None

    def discard(self, corpus_id: str) -> None:
        """Discards the snapshots of a corpus."""
        for kind in VectorKind:
            self._latest.pop((corpus_id, kind), None)

    def clear(self) -> None:
        self._latest.clear()

    def _read(
        self, corpus_id: str, kind: VectorKind, version: int, last: CollectionSnapshot | None
    ) -> CollectionSnapshot | None:
        for is_built in (False, True):
            with self._pool.reading() as db:
                self._forget_deleted(db)
                collection = read_collection(db, corpus_id, kind)
                if collection is None:
                    return None
                vectors = _follow(db, collection, last) or self._open(db, collection, at_any_size=is_built)
                if vectors is not None:
                    return CollectionSnapshot(version=version, collection=collection, vectors=vectors)
            self._bases.build(corpus_id, kind, wait=True)
        raise AssertionError("a collection that was built is read in any case")

    def _forget_deleted(self, db: sqlite3.Connection) -> None:
        """Frees the snapshots of corpora that another process has deleted. Nobody searches them any more."""
        present = {(corpus_id, kind) for corpus_id, kind, _ in list_collections(db)}
        for key in list(self._latest):  # other threads add to it
            if key not in present:
                self._latest.pop(key, None)

    def _open(
        self, db: sqlite3.Connection, collection: Collection, *, at_any_size: bool
    ) -> VectorSnapshot | MappedSnapshot | None:
        """Returns the collection over its file, or in memory if it is small or `at_any_size`; else None."""
        mapped = self._bases.open(db, collection)
        if mapped is not None:
            return mapped
        rows = count_rows(db, collection)
        if rows > self._bases.policy.exact_rows and not at_any_size:
            return None
        vectors = VectorSnapshot.empty(collection.dimension, rows)
        for part in read_after(db, collection, -1):
            vectors = vectors.extended(*part)
        return vectors


def _follow(
    db: sqlite3.Connection, collection: Collection, last: CollectionSnapshot | None
) -> VectorSnapshot | MappedSnapshot | None:
    """Returns the last snapshot with what has changed since; None if that cannot be known."""
    if last is None or last.collection.number != collection.number:
        return None
    vectors = last.vectors
    if last.collection.change >= collection.forgotten:
        gone = np.array(read_deleted_places(db, collection, last.collection.change), dtype=np.int64)
    elif isinstance(vectors, MappedSnapshot):
        gone = find_gone(
            db, collection, np.concatenate([vectors.base.read_places(), vectors.own.rows[: vectors.own.size]])
        )
    else:
        return None
    place = vectors.last_place
    vectors = vectors.without(gone)
    for rows in read_after(db, collection, place):
        vectors = vectors.extended(*rows)
    return vectors


_SEARCHES = 8
"""A process compiles the kernels after this many searches; a command that makes one search and ends does not."""


class Upkeep:
    """Writes files that are due, deletes files of deleted corpora, and opens files of other processes."""

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

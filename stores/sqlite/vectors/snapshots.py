"""Snapshots of collections in memory, which follow the commits of every process."""

import sqlite3
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from core.ports.views import VectorKind
from stores.exact_search import VectorSnapshot
from stores.sqlite.vectors.pool import ConnectionPool
from stores.sqlite.vectors.rows import Collection, count_rows, read_after, read_collection, read_deleted_places

__all__ = ["CollectionSnapshot", "VectorSnapshots"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectionSnapshot:
    """A snapshot, the collection as it was then, and the version of the file up to which nothing is newer."""

    version: int
    collection: Collection
    vectors: VectorSnapshot


@dataclass(slots=True)
class _LatestSnapshot:
    """The newest snapshot of one collection, and the lock that a thread holds while it reads a newer one."""

    lock: Lock = field(default_factory=Lock)
    snapshot: CollectionSnapshot | None = None


class VectorSnapshots:
    """The newest snapshot of each collection."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
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

    def discard(self, corpus_id: str) -> None:
        """Discards the snapshots of a corpus."""
        for kind in VectorKind:
            self._latest.pop((corpus_id, kind), None)

    def clear(self) -> None:
        self._latest.clear()

    def _read(
        self, corpus_id: str, kind: VectorKind, version: int, last: CollectionSnapshot | None
    ) -> CollectionSnapshot | None:
        with self._pool.reading() as db:
            collection = read_collection(db, corpus_id, kind)
            if collection is None:
                return None
            vectors = _without_deleted(db, collection, last)
            place = int(vectors.rows[vectors.size - 1]) if vectors.size else -1
            for rows in read_after(db, collection, place):
                vectors = vectors.extended(*rows)
            return CollectionSnapshot(version=version, collection=collection, vectors=vectors)


def _without_deleted(db: sqlite3.Connection, collection: Collection, last: CollectionSnapshot | None) -> VectorSnapshot:
    """Returns the last snapshot without what was deleted since; an empty one if that is too long ago to be known."""
    if last and last.collection.number == collection.number and last.collection.change >= collection.forgotten:
        places = read_deleted_places(db, collection, last.collection.change)
        return last.vectors.without(np.array(places, dtype=np.int64))
    return VectorSnapshot.empty(collection.dimension, count_rows(db, collection))

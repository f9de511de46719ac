"""The port of vectors in SQLite: vectors as blobs in a file, searched over snapshots."""

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from core.errors import InvalidInput
from core.execution.threads import compute
from core.ports.embedding import Vectors
from core.ports.views import Scored, VectorBatch, VectorKind
from stores.sqlite.vectors.mapped.base import DamagedRows, MappedSnapshot, measure_recall
from stores.sqlite.vectors.mapped.bases import BaseFolder, BasePolicy, Bases
from stores.sqlite.vectors.rows import (
    FLOAT32,
    ConnectionPool,
    create_collection,
    delete_collections,
    delete_vectors,
    insert_vectors,
    next_change,
    read_collection,
    read_last_place,
)
from stores.sqlite.vectors.snapshots import CollectionSnapshot, Upkeep, VectorSnapshots

T = TypeVar("T")

_KEEP_REMOVALS_SECONDS = 3600.0
_ALL = "FROM collections JOIN vectors USING (collection) WHERE corpus_id = ? AND kind = ?"
_LISTED = f"{_ALL} AND id IN (SELECT value FROM json_each(?))"


class SqliteVectorStore:
    """Implements `core.ports.views.VectorStore`. Any number of processes read and write one file.

    Vectors are unit vectors. A collection keeps the dimension of its first vectors until the corpus is deleted.
    """

    def __init__(
        self,
        path: Path,
        *,
        keep_removals_seconds: float = _KEEP_REMOVALS_SECONDS,
        policy: BasePolicy | None = None,
    ) -> None:
        """Files of large collections are in the folder `vectors` beside `path`, written as `policy` says.

        Snapshots in memory that are older than `keep_removals_seconds` are read again as a whole.
        """
        self._keep_removals = keep_removals_seconds
        self._pool = ConnectionPool(path)
        self._bases = Bases(self._pool, BaseFolder(path.with_suffix("")), policy or BasePolicy())
        self._snapshots = VectorSnapshots(self._pool, self._bases)
        self._upkeep = Upkeep(self._pool, self._bases, self._snapshots)

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        vectors = _check_batch(batch)
        if len(vectors):
            await asyncio.to_thread(self._write, corpus_id, kind, batch, vectors)

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        def work() -> set[str]:
            with self._pool.reading() as db:
                found = db.execute(f"SELECT id {_LISTED}", (corpus_id, kind, json.dumps(list(ids))))
                return set(ids).difference(id_ for (id_,) in found)

        return await asyncio.to_thread(work)

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if k < 1 or (documents is not None and not documents):
            return []

        def work() -> list[Scored]:
            snapshot = self._read_snapshot(corpus_id, kind)
            if snapshot is None:
                return []
            _check_dimension(query.shape, (snapshot.collection.dimension,), corpus_id, kind)
            self._upkeep.count_search()
            return snapshot.vectors.search(query, k, documents)

        return await compute(self._mend_damage, corpus_id, kind, work)

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        queries = np.ascontiguousarray(vectors, dtype=np.float32)

        def work() -> list[list[Scored]]:
            snapshot = self._read_snapshot(corpus_id, kind)
            if snapshot is None or not len(queries):
                return [[] for _ in queries]
            _check_dimension(queries.shape[1:], (snapshot.collection.dimension,), corpus_id, kind)
            return snapshot.vectors.within(queries, threshold)

        return await compute(self._mend_damage, corpus_id, kind, work)

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]:
        def work() -> dict[str, Vectors]:
            held = self._snapshots.held(corpus_id, kind)
            found = {} if held is None else held.vectors.find(ids)
            others = [id_ for id_ in ids if id_ not in found]
            if others:
                with self._pool.reading() as db:
                    rows = db.execute(f"SELECT id, vector {_LISTED}", (corpus_id, kind, json.dumps(others)))
                    found.update((id_, np.frombuffer(vector, dtype=FLOAT32)) for id_, vector in rows)
            return found

        return await compute(work)

    async def await_writes(self, corpus_id: str) -> None:
        """Does nothing: every search finds what was committed before."""

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None:
        def work() -> None:
            with self._pool.writing() as db:
                collection = read_collection(db, corpus_id, kind)
                if collection is None:
                    return
                change = next_change(db, collection)
                delete_vectors(db, collection, change, ids, listed_seconds=self._keep_removals)
                self._upkeep.start(read_last_place(db))
            self._pool.empty_log()

        if ids:
            await asyncio.to_thread(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        def work() -> None:
            with self._pool.writing() as db:
                numbers = delete_collections(db, corpus_id)
            self._pool.empty_log()
            for number in numbers:
                self._bases.folder.delete(number)

        await asyncio.to_thread(work)
        self._snapshots.discard(corpus_id)

    async def count(self, corpus_id: str, kind: VectorKind) -> int:
        def work() -> int:
            with self._pool.reading() as db:
                (count,) = db.execute(f"SELECT count(*) {_ALL}", (corpus_id, kind)).fetchone()
                return int(count)

        return await compute(work)

    async def check(self) -> str:
        """Returns SQLite's version, after reading the file."""

        def work() -> str:
            with self._pool.reading() as db:
                db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone()
                (version,) = db.execute("SELECT sqlite_version()").fetchone()
                return f"SQLite {version}"

        return await asyncio.to_thread(work)

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """Returns the ids of all rows, ascending, for comparing the store with the record."""

        def work() -> list[str]:
            with self._pool.reading() as db:
                return [id_ for (id_,) in db.execute(f"SELECT id {_ALL} ORDER BY id", (corpus_id, kind))]

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Closes the connections and discards the snapshots. A later call opens them again."""
        await asyncio.to_thread(self._upkeep.close)
        self._pool.close()
        self._snapshots.clear()

    async def measure_recall(self, corpus_id: str, kind: VectorKind) -> float | None:
        """Returns the share of the ten nearest vectors that searches find; None if they compare all vectors."""

        def work() -> float | None:
            snapshot = self._read_snapshot(corpus_id, kind)
            vectors = None if snapshot is None else snapshot.vectors
            return measure_recall(vectors) if isinstance(vectors, MappedSnapshot) else None

        return await compute(self._mend_damage, corpus_id, kind, work)

    async def clean_files(self) -> int:
        """Deletes files of deleted corpora, and files with deleted vectors. Returns how many were deleted."""
        return await asyncio.to_thread(self._bases.clean, outdated=True)

    async def look_at_files(self) -> None:
        """Writes the files that are due and opens new files at once, not only every few seconds."""
        await asyncio.to_thread(self._upkeep.look)

    def _read_snapshot(self, corpus_id: str, kind: VectorKind) -> CollectionSnapshot | None:
        snapshot = self._snapshots.get(corpus_id, kind)
        if snapshot is not None:
            self._upkeep.start(snapshot.vectors.last_place)
        return snapshot

    def _mend_damage(self, corpus_id: str, kind: VectorKind, work: Callable[[], T]) -> T:
        """Returns the result of `work`, which is repeated if it meets a file that is damaged."""
        try:
            return work()
        except DamagedRows as damage:
            self._snapshots.discard_damaged(corpus_id, kind, damage)
        return work()

    def _write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch, vectors: Vectors) -> None:
        last = {id_: i for i, id_ in enumerate(batch.ids)}  # an id that comes twice: its last row counts
        with self._pool.writing() as db:
            collection = read_collection(db, corpus_id, kind)
            collection = collection or create_collection(db, corpus_id, kind, vectors.shape[1])
            _check_dimension(vectors.shape[1:], (collection.dimension,), corpus_id, kind)
            change = next_change(db, collection)
            delete_vectors(db, collection, change, list(last), listed_seconds=self._keep_removals)
            rows = [(collection.number, id_, batch.documents[i], vectors[i].tobytes()) for id_, i in last.items()]
            insert_vectors(db, rows)
            self._upkeep.start(read_last_place(db))


def _check_batch(batch: VectorBatch) -> Vectors:
    """Returns the vectors as rows of float32. Raises `InvalidInput` if they cannot belong to their ids."""
    vectors = np.ascontiguousarray(batch.vectors, dtype=FLOAT32)
    if not len(batch.ids) == len(batch.documents) == len(vectors):
        sizes = f"{len(batch.ids)} ids, {len(batch.documents)} documents and {len(vectors)} vectors"
        raise InvalidInput(f"a vector batch has {sizes}: give as many of each")
    if len(vectors) and vectors.ndim != 2:
        raise InvalidInput(f"vectors have shape {vectors.shape}: give one row of numbers per id")
    if not np.isfinite(vectors).all():
        raise InvalidInput("a vector holds a number that is not finite: the embedding model is at fault, not the store")
    return vectors


def _check_dimension(given: tuple[int, ...], expected: tuple[int], corpus_id: str, kind: VectorKind) -> None:
    if given != expected:
        shape = "×".join(map(str, given))
        raise InvalidInput(
            f"a vector of dimension {shape} does not fit the {kind} vectors of corpus {corpus_id}, which have "
            f"{expected[0]}: use the embedding model that the corpus was built with, or reindex it"
        )

"""The vector store on Milvus: one collection for each corpus and kind, created at the first write."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Several
from typing import TypeVar

import numpy as np

from core.errors import Unavailable
from core.ports.embedding import Vectors
from core.ports.views import Scored, VectorBatch, VectorKind
from stores.milvus import nearest
from stores.milvus.collection import MAX_ROWS, MilvusCollection
from stores.milvus.collections import MilvusCollections, MilvusIndex
from stores.milvus.nearest import read_all_ids
from stores.milvus.rows import check_vectors, collection_name, select_keys, split_rows
from stores.milvus.server import Absent, Deadline, MilvusServer

T = TypeVar("T")

_ANSWER_SECONDS = 4.0
_WORK_SECONDS = 30.0
_REBUILD_SECONDS = 600.0
_ROWS_A_SECOND = 500
"""The least throughput of a server under load; it extends the deadline of calls with many rows."""

_EXACT_ROWS = 20_000
_SIZE_SECONDS = 5.0


class MilvusVectorStore:
    """Fills `core.ports.views.VectorStore`, from any thread and process.

    Rows are written by upsert. This is correct because no collection has a partition key: concurrent writers of the
    same ids leave one row for each id, which deleting and inserting would not. A call that fails with `Unavailable` may
    be repeated.

    `exact_rows`: up to this number a search examines all rows (some 4 ms for 10,000); beyond, it uses the index.
    `answer_seconds` and `work_seconds`: the time limits of a read by a user, and of a step of a worker.
    """

    def __init__(
        self,
        uri: str,
        token: str = "",
        *,
        index: MilvusIndex | None = None,
        exact_rows: int = _EXACT_ROWS,
        answer_seconds: float = _ANSWER_SECONDS,
        work_seconds: float = _WORK_SECONDS,
    ) -> None:
        self._index = index or MilvusIndex()
        self._server = MilvusServer(uri, token)
        self._collections = MilvusCollections(self._server, self._index)
        self._exact_rows = exact_rows
        self._answer_seconds = answer_seconds
        self._work_seconds = work_seconds
        self._sizes: dict[str, tuple[int, float]] = {}

    async def check(self) -> str:
        """Returns the version of the server. Raises `Unavailable` or `InvalidSettings` if it cannot be used."""
        return f"Milvus {await asyncio.to_thread(self._server.version)}"

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        vectors = check_vectors(batch)

        def work(collection: MilvusCollection) -> None:
            collection.write(split_rows(batch, vectors), vectors.shape[1])

        if len(vectors):
            await self._run(corpus_id, kind, work, None, self._limit_for(len(vectors)))

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        """Returns the `ids` that have no row.

        A row that another process wrote a moment ago may count as missing. A deleted row always counts as missing.
        """

        def work(collection: MilvusCollection) -> set[str]:
            found = collection.find_existing(select_keys(ids), "Session")
            return set(ids) - (collection.find_existing(sorted(found), "Strong") if found else found)

        return await self._run(corpus_id, kind, work, set(ids), self._limit_for(len(ids))) if ids else set()

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Several[str] | None = None
    ) -> list[Scored]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        wanted = None if documents is None else select_keys(documents)
        if k < 1 or wanted == []:
            return []

        def work(collection: MilvusCollection) -> list[Scored]:
            collection.check_dimension(query.shape)
            return nearest.search_best(collection, query, k, wanted, self._choose_radius(collection))

        seconds = self._answer_seconds if k < MAX_ROWS else self._work_seconds  # beyond, all rows are read
        return await self._run(corpus_id, kind, work, [], seconds)

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        queries = np.ascontiguousarray(vectors, dtype=np.float32)
        if not len(queries):
            return []

        def work(collection: MilvusCollection) -> list[list[Scored]]:
            collection.check_dimension(queries.shape[1:])
            return nearest.search_within(collection, queries, threshold, self._choose_radius(collection))

        nothing: list[list[Scored]] = [[] for _ in queries]
        return await self._run(corpus_id, kind, work, nothing, self._limit_for(len(queries)))

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]:
        wanted = select_keys(ids)
        nothing: dict[str, Vectors] = {}
        seconds = self._answer_seconds + len(wanted) / _ROWS_A_SECOND
        return (
            await self._run(corpus_id, kind, lambda c: c.read_vectors(wanted), nothing, seconds) if wanted else nothing
        )

    async def await_writes(self, corpus_id: str) -> None:
        """Makes the next read of each collection wait for the writes of all processes (some 200 ms)."""
        for kind in VectorKind:
            self._collections.unseen.add(collection_name(corpus_id, kind))

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None:
        def work(collection: MilvusCollection) -> None:
            collection.delete(select_keys(ids))

        if ids:
            await self._run(corpus_id, kind, work, None, self._limit_for(len(ids)))

    async def delete_corpus(self, corpus_id: str) -> None:
        for kind in VectorKind:
            await self._run(corpus_id, kind, lambda collection: collection.delete_all(), None, self._work_seconds)
            self._sizes.pop(collection_name(corpus_id, kind), None)

    async def count(self, corpus_id: str, kind: VectorKind) -> int:
        return await self._run(corpus_id, kind, lambda collection: collection.count(), 0)

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """Returns all ids, sorted, to compare the store with the record."""
        return await self._run(corpus_id, kind, read_all_ids, [], _REBUILD_SECONDS)

    async def other_index(self, corpus_id: str, kind: VectorKind) -> MilvusIndex | None:
        """Returns the index of a collection if it differs from the configured index.

        Returns None if it is the same, or if there is no collection.
        """

        def work(collection: MilvusCollection) -> MilvusIndex | None:
            there = collection.read_index()
            return None if there == self._index else there

        return await self._run(corpus_id, kind, work, None)

    async def rebuild(self, corpus_id: str, kind: VectorKind) -> None:
        """Compacts the collection and builds its index again. Searches of it wait or fail meanwhile."""
        await self._run(corpus_id, kind, lambda collection: collection.rebuild(), None, _REBUILD_SECONDS)

    async def close(self) -> None:
        """Closes the connection. A later call connects again."""
        await asyncio.to_thread(self._server.close)

    async def _run(
        self,
        corpus_id: str,
        kind: VectorKind,
        work: Callable[[MilvusCollection], T],
        nothing: T,
        seconds: float | None = None,
    ) -> T:
        """Returns what `work` returns for the collection, or `nothing` if it does not exist."""
        name = collection_name(corpus_id, kind)

        def run() -> T:
            limit = self._answer_seconds if seconds is None else seconds
            if self._collections.is_loading(name):
                limit = max(limit, self._work_seconds)
            collection = MilvusCollection(self._server, self._collections, self._index, name, Deadline(limit))
            try:
                return work(collection)
            except Absent:
                self._collections.invalidate(name)
                return nothing
            except Unavailable:
                self._collections.invalidate(name)  # the cached dimension may be outdated
                raise

        return await asyncio.to_thread(run)

    def _limit_for(self, rows: int) -> float:
        return self._work_seconds + rows / _ROWS_A_SECOND

    def _choose_radius(self, collection: MilvusCollection) -> float | None:
        """Returns the radius with which a search examines all rows, or None for a search by the index.

        The number of rows is read every few seconds.
        """
        size, until = self._sizes.get(collection.name, (0, 0.0))
        if time.monotonic() >= until:
            size = collection.count()
            self._sizes[collection.name] = (size, time.monotonic() + _SIZE_SECONDS)
        return nearest.ALL_ROWS if size <= self._exact_rows else None

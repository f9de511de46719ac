"""Vectors on Milvus: one collection per corpus and kind, made at the first write."""

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
from stores.milvus.collection import MOST, Collection
from stores.milvus.collections import Collections, MilvusIndex
from stores.milvus.expressions import collection_name, usable
from stores.milvus.pages import all_ids
from stores.milvus.rows import checked, parts
from stores.milvus.server import Absent, Budget, MilvusServer

__all__ = ["MilvusVectorStore"]

T = TypeVar("T")

_ANSWER_SECONDS = 4.0
_WORK_SECONDS = 30.0
_REBUILD_SECONDS = 600.0
_ROWS_A_SECOND = 500
"""That any server does, also where it has much else to do: calls with many rows may take longer."""

_EXACT_ROWS = 20_000
_SIZE_SECONDS = 5.0


class MilvusVectorStore:
    """Fills `core.ports.views.VectorStore`, from any thread and process.

    Rows are written by upsert, which is right as no collection has a partition key: writers of the same ids at once
    leave one row each, which deleting and inserting would not. What fails with `Unavailable` may be repeated.

    `exact_rows`: up to so many rows, a search looks at each of them (some 4 ms for 10,000); beyond, at those that the
    index leads to. `answer_seconds` and `work_seconds`: what a question of a reader, and a step of a worker, may take.
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
        self._collections = Collections(self._server, self._index)
        self._exact_rows = exact_rows
        self._answer = answer_seconds
        self._work = work_seconds
        self._sizes: dict[str, tuple[int, float]] = {}

    async def check(self) -> str:
        """The server's version. Raises `Unavailable` or `InvalidSettings` where it cannot be used."""
        return f"Milvus {await asyncio.to_thread(self._server.version)}"

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        vectors = checked(batch)

        def work(collection: Collection) -> None:
            collection.write(parts(batch, vectors), vectors.shape[1])

        if len(vectors):
            await self._on(corpus_id, kind, work, None, self._work_on(len(vectors)))

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        """A row that another process wrote a moment ago may count as missing; one that is gone never as present."""

        def work(collection: Collection) -> set[str]:
            seen = collection.present(usable(ids), "Session")
            return set(ids) - (collection.present(sorted(seen), "Strong") if seen else seen)

        return await self._on(corpus_id, kind, work, set(ids), self._work_on(len(ids))) if ids else set()

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Several[str] | None = None
    ) -> list[Scored]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        wanted = None if documents is None else usable(documents)
        if k < 1 or wanted == []:
            return []

        def work(collection: Collection) -> list[Scored]:
            collection.check_dimension(query.shape)
            return nearest.best(collection, query, k, wanted, self._radius(collection))

        seconds = self._answer if k < MOST else self._work  # beyond, every row is read
        return await self._on(corpus_id, kind, work, [], seconds)

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        queries = np.ascontiguousarray(vectors, dtype=np.float32)
        if not len(queries):
            return []

        def work(collection: Collection) -> list[list[Scored]]:
            collection.check_dimension(queries.shape[1:])
            return nearest.within(collection, queries, threshold, self._radius(collection))

        nothing: list[list[Scored]] = [[] for _ in queries]
        return await self._on(corpus_id, kind, work, nothing, self._work_on(len(queries)))

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]:
        wanted = usable(ids)
        nothing: dict[str, Vectors] = {}
        seconds = self._answer + len(wanted) / _ROWS_A_SECOND
        return await self._on(corpus_id, kind, lambda c: c.vectors(wanted), nothing, seconds) if wanted else nothing

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None:
        def work(collection: Collection) -> None:
            collection.delete(usable(ids))

        if ids:
            await self._on(corpus_id, kind, work, None, self._work_on(len(ids)))

    async def delete_corpus(self, corpus_id: str) -> None:
        for kind in VectorKind:
            await self._on(corpus_id, kind, lambda collection: collection.drop(), None, self._work)
            self._sizes.pop(collection_name(corpus_id, kind), None)

    async def count(self, corpus_id: str, kind: VectorKind) -> int:
        return await self._on(corpus_id, kind, lambda collection: collection.count(), 0)

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """All rows there are, sorted: for comparing the store with the record."""
        return await self._on(corpus_id, kind, all_ids, [], _REBUILD_SECONDS)

    async def other_index(self, corpus_id: str, kind: VectorKind) -> MilvusIndex | None:
        """The index of a collection that was made with another one than new ones get; None: it has the same, or there
        is no collection.
        """

        def work(collection: Collection) -> MilvusIndex | None:
            there = collection.made_with()
            return None if there == self._index else there

        return await self._on(corpus_id, kind, work, None)

    async def rebuild(self, corpus_id: str, kind: VectorKind) -> None:
        """Compact the collection and build its index again; searches of it wait or fail meanwhile."""
        await self._on(corpus_id, kind, lambda collection: collection.rebuild(), None, _REBUILD_SECONDS)

    async def close(self) -> None:
        """Let go of the connection; a later call connects again."""
        await asyncio.to_thread(self._server.close)

    async def _on(
        self,
        corpus_id: str,
        kind: VectorKind,
        work: Callable[[Collection], T],
        nothing: T,
        seconds: float | None = None,
    ) -> T:
        """What `work` makes of the collection, or `nothing` where there is none."""
        name = collection_name(corpus_id, kind)

        def run() -> T:
            patience = self._answer if seconds is None else seconds
            if self._collections.was_made_here(name):
                patience = max(patience, self._work)
            collection = Collection(self._server, self._collections, self._index, name, Budget(patience))
            try:
                return work(collection)
            except Absent:
                self._collections.forget(name)
                return nothing
            except Unavailable:
                self._collections.forget(name)  # what is known of it may be what is wrong
                raise

        return await asyncio.to_thread(run)

    def _work_on(self, rows: int) -> float:
        return self._work + rows / _ROWS_A_SECOND

    def _radius(self, collection: Collection) -> float | None:
        """Whether a search looks at every row; how many there are is asked every few seconds."""
        size, until = self._sizes.get(collection.name, (0, 0.0))
        if time.monotonic() >= until:
            size = collection.count()
            self._sizes[collection.name] = (size, time.monotonic() + _SIZE_SECONDS)
        return nearest.EVERY if size <= self._exact_rows else None

"""`RestrictedSnapshots`: the graph of a corpus as the holder of a key with a filter sees it."""

import asyncio

from app.access.documents import RestrictedDocuments
from core.trace import Trace
from retrieval import GraphSnapshot, SnapshotCache

__all__ = ["RestrictedSnapshots"]


class RestrictedSnapshots(SnapshotCache):
    """Shares the snapshots of all requests. A merge counts only if the documents that may be seen name both entities.

    The snapshots have rows of other documents; their readers select the rows of a search's documents.
    """

    def __init__(self, whole: SnapshotCache, documents: RestrictedDocuments) -> None:
        self._whole = whole
        self._documents = documents

    async def get(
        self, corpus_id: str, *, min_generation: int | None = None, trace: Trace | None = None
    ) -> GraphSnapshot:
        found = await self._whole.get(corpus_id, min_generation=min_generation, trace=trace)
        return await self._restrict(corpus_id, found)

    async def is_current(self, corpus_id: str, snapshot: GraphSnapshot) -> bool:
        return await self._whole.is_current(corpus_id, snapshot)

    async def follow(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot | None:
        found = await self._whole.follow(corpus_id, snapshot)
        return None if found is None else await self._restrict(corpus_id, found)

    def compare_again(self, corpus_id: str) -> None:
        self._whole.compare_again(corpus_id)

    def evict(self, corpus_id: str) -> None:
        self._whole.evict(corpus_id)

    async def _restrict(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot:
        if not snapshot.merges:
            return snapshot
        return await asyncio.to_thread(snapshot.restrict_merges, await self._documents.readable(corpus_id))

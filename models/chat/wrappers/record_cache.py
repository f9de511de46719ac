"""A cache of answers that is synchronized with the record before it is read."""

from core.errors import NotFound
from core.ports.chat import CachedAnswer, ModelCache
from core.ports.record import GraphChanges, GraphSource

__all__ = ["RecordCache"]

_ATTEMPTS = 5


class RecordCache:
    """Deletes answers about a corpus with the chunks that they name, or all of them if the change log does not reach
    far enough back. Without a record, only answers that concern no corpus are cached.
    """

    def __init__(self, cache: ModelCache, graph: GraphSource | None) -> None:
        self._cache = cache
        self._graph = graph
        self._followed: dict[str, int] = {}

    async def follow(self, corpus_id: str) -> int | None:
        """Synchronizes, and returns the generation at which the cache may be read; None if it may not be read."""
        if not corpus_id:
            return 0
        if self._graph is None:
            return None
        try:
            generation = await self._graph.generation(corpus_id)
            if self._followed.get(corpus_id) != generation:
                generation = await self._catch_up(self._graph, corpus_id, generation)
        except NotFound:  # the corpus is deleted
            await self.delete_corpus(corpus_id)
            return None
        self._followed[corpus_id] = generation
        return generation

    async def get(self, key: str) -> str | None:
        return await self._cache.get(key)

    async def put(self, entry: CachedAnswer, generation: int) -> None:
        """Stores an answer of `generation`, unless a chunk that it names was deleted meanwhile."""
        for _ in range(_ATTEMPTS):  # bounded, since the record may be written faster than it is read
            if await self._cache.put(entry, generation) or self._graph is None:
                return
            try:
                changes = await self._graph.changes(entry.corpus_id, generation)
            except NotFound:
                return
            if changes is None or entry.chunk_ids & _deleted_chunks(changes):
                return
            generation = changes.generation

    async def delete_corpus(self, corpus_id: str) -> None:
        self._followed.pop(corpus_id, None)
        await self._cache.delete_corpus(corpus_id)

    async def close(self) -> None:
        await self._cache.close()

    async def _catch_up(self, graph: GraphSource, corpus_id: str, generation: int) -> int:
        since = await self._cache.followed(corpus_id)
        if since == generation:
            return generation
        changes = None if since is None else await graph.changes(corpus_id, since)
        if changes is None:
            await self._cache.follow(corpus_id, generation, None)
            return generation
        await self._cache.follow(corpus_id, changes.generation, _deleted_chunks(changes))
        return changes.generation


def _deleted_chunks(changes: GraphChanges) -> frozenset[str]:
    """Returns the removed chunks that were not added again: an id stands for the same text."""
    return frozenset(changes.removed).difference(chunk.id for chunk in changes.added.chunks)

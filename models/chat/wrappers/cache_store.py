"""The cache of answers, brought up to date with the record before anything is read from it."""

from core.errors import NotFound
from core.ports.model_cache import CachedAnswer, ModelCache
from core.ports.record import GraphChanges, GraphSource

__all__ = ["FollowingCache"]

_ATTEMPTS = 5


class FollowingCache:
    """Answers about a corpus are forgotten with the chunks that they name, and all of them where the record no longer
    knows what changed. Without a record to follow, only answers about no corpus are kept.
    """

    def __init__(self, cache: ModelCache, graph: GraphSource | None) -> None:
        self._cache = cache
        self._graph = graph
        self._followed: dict[str, int] = {}

    async def follow(self, corpus_id: str) -> int | None:
        """The generation at which the cache may be read for this corpus; None where it may not be."""
        if not corpus_id:
            return 0
        if self._graph is None:
            return None
        try:
            generation = await self._graph.generation(corpus_id)
            if self._followed.get(corpus_id) != generation:
                generation = await self._catch_up(self._graph, corpus_id, generation)
        except NotFound:  # dropped: there is nothing left to be asked about
            await self.forget(corpus_id)
            return None
        self._followed[corpus_id] = generation
        return generation

    async def get(self, key: str) -> str | None:
        return await self._cache.get(key)

    async def put(self, entry: CachedAnswer, generation: int) -> None:
        """Keep an answer to what was asked at `generation`, unless a chunk that it names has gone meanwhile."""
        for _ in range(_ATTEMPTS):  # bounded, for a record that is written to faster than it is read
            if await self._cache.put(entry, generation) or self._graph is None:
                return
            try:
                changes = await self._graph.changes(entry.corpus_id, generation)
            except NotFound:
                return
            if changes is None or entry.chunk_ids & _gone(changes):
                return
            generation = changes.generation

    async def forget(self, corpus_id: str) -> None:
        self._followed.pop(corpus_id, None)
        await self._cache.forget(corpus_id)

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
        await self._cache.follow(corpus_id, changes.generation, _gone(changes))
        return changes.generation


def _gone(changes: GraphChanges) -> frozenset[str]:
    """A chunk that is removed and added again still has the text that its id is made of."""
    return frozenset(changes.removed).difference(chunk.id for chunk in changes.added.chunks)

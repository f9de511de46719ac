"""A chat model that caches answers.

`RecordCache` is the cache, which is synchronized with the record before it is read.
"""

import json
import time
from dataclasses import asdict

from core.errors import NotFound
from core.ids import digest
from core.ports.chat import CachedAnswer, ChatModel, ChatRequest, Completion, ModelCache, OnToken
from core.ports.record import GraphChanges, GraphSource
from core.trace import Trace
from models.chat.wrappers.accounting import call_event

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


class ChatCache:
    """Caches complete answers under everything that may change them; truncated answers are not cached. A cached answer
    costs nothing, goes to `on_token` in one piece, and its event says that it was cached.
    """

    def __init__(self, inner: ChatModel, cache: RecordCache, *, endpoint: str) -> None:
        self._inner = inner
        self._cache = cache
        self._endpoint = endpoint

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        if not request.cached:
            return await self._inner.complete(request, trace, on_token)
        began = time.monotonic()
        generation = await self._cache.follow(request.corpus_id) if request.cacheable else None
        if generation is None:
            return await self._inner.complete(request, trace, on_token)
        key = self._key(request)
        kept = await self._cache.get(key)
        if kept is not None:
            completion = Completion(**json.loads(kept))
            trace.usage.row(request.role, self.model).cached += 1
            if on_token is not None and completion.text:
                on_token(completion.text)
            trace.emit(call_event(request, self.model, time.monotonic() - began, cached=True))
            return completion
        completion = await self._inner.complete(request, trace, on_token)
        if not completion.cut:
            answer = json.dumps(asdict(completion))
            entry = CachedAnswer(key=key, answer=answer, corpus_id=request.corpus_id, chunk_ids=request.chunk_ids)
            await self._cache.put(entry, generation)
        return completion

    def _key(self, request: ChatRequest) -> str:
        """Returns the cache key; role and question labels are not part of it."""
        parameters = [request.temperature, request.max_tokens, request.stop, request.sample, request.schema]
        return digest(
            "completion",
            [
                request.corpus_id,
                self._endpoint,
                self.model,
                request.prompt_hash,
                json.dumps([(message.speaker.value, message.content) for message in request.messages]),
                json.dumps(parameters, sort_keys=True, default=dict),
            ],
        )

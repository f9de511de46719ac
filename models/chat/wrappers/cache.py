"""A chat model that caches answers."""

import json
import time
from dataclasses import asdict

from core.ids import digest
from core.ports.chat import CachedAnswer, ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.wrappers.accounting import call_event
from models.chat.wrappers.record_cache import RecordCache

__all__ = ["ChatCache"]


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

"""Embeds with an endpoint that speaks OpenAI's protocol."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import SecretStr

from core.errors import InvalidSettings, ModelFailed
from core.execution.bounded_answers import AnswerBounds, bounding_hooks
from core.ports.embedding import Vectors
from core.telemetry.outgoing import outgoing_headers
from models.embedding.normalize import normalize
from models.embedding.tokens import EstimatedTokens
from models.endpoint_errors import translate_errors

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CreateEmbeddingResponse

__all__ = ["OpenAIEmbedder"]

_PUBLIC = "https://api.openai.com/v1"
_NO_KEY = SecretStr("")
_TEXTS_PER_CALL = 128
_READS = 512  # the limit of the smallest models in use; `max_tokens` overrides it


class OpenAIEmbedder:
    """The client retries transient errors `retries` times, with the pauses that the endpoint requests."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "",
        api_key: SecretStr = _NO_KEY,
        max_tokens: int | None = None,
        timeout_seconds: float = 60.0,
        retries: int = 2,
    ) -> None:
        if not base_url and not api_key.get_secret_value():
            raise InvalidSettings("embedding.kind 'openai' needs embedding.base_url (a local server) or .api_key")
        self._model = model
        self._url = base_url or _PUBLIC
        self._key = api_key
        self._timeout = timeout_seconds
        self._retries = retries
        self._bounds = AnswerBounds(seconds=timeout_seconds)
        self._tokens = EstimatedTokens(max_tokens or _READS)
        # A connection belongs to the event loop that opened it.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def dimension(self) -> int:
        """Read from the first answer, or requested from the endpoint in a blocking call."""
        import openai

        hooks = bounding_hooks(self._bounds, blocking=True)
        http = openai.DefaultHttpxClient(timeout=self._timeout, event_hooks=hooks, follow_redirects=False)
        with (
            self._errors(),
            openai.OpenAI(
                api_key=self._secret(),
                base_url=self._url,
                timeout=self._timeout,
                max_retries=self._retries,
                http_client=http,
            ) as client,
        ):
            answer = client.embeddings.create(model=self._model, input=["dimension"])
            return len(_vectors_of(answer, 1)[0])

    @property
    def tokens(self) -> EstimatedTokens:
        return self._tokens

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Sends a blank for an empty text, which endpoints refuse."""
        if not texts:
            return np.empty((0, await asyncio.to_thread(lambda: self.dimension)), dtype=np.float32)
        sent = [text or " " for text in texts]
        calls = [sent[start : start + _TEXTS_PER_CALL] for start in range(0, len(sent), _TEXTS_PER_CALL)]
        return normalize(np.concatenate([await self._call(call) for call in calls]))

    async def embed_query(self, text: str) -> Vectors:
        vector: Vectors = (await self.embed_passages([text]))[0]
        return vector

    async def close(self) -> None:
        """Closes this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _call(self, texts: list[str]) -> Vectors:
        with self._errors():
            answer = await self._client().embeddings.create(
                model=self._model, input=texts, extra_headers=outgoing_headers()
            )
            vectors = _vectors_of(answer, len(texts))
        known = self.__dict__.setdefault("dimension", vectors.shape[1])
        if vectors.shape[1] != known:
            raise ModelFailed(f"{self._model} at {self._url} answered with {vectors.shape[1]} dimensions after {known}")
        return vectors

    def _client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # A redirect would send passages to an address that is not configured.
            http = DefaultAsyncHttpxClient(
                timeout=self._timeout, event_hooks=bounding_hooks(self._bounds), follow_redirects=False
            )
            self._clients[loop] = AsyncOpenAI(
                api_key=self._secret(),
                base_url=self._url,
                timeout=self._timeout,
                max_retries=self._retries,
                http_client=http,
            )
        return self._clients[loop]

    def _secret(self) -> str:
        return self._key.get_secret_value() or "none"  # the client requires a key, local servers do not

    def _errors(self) -> translate_errors:
        return translate_errors(f"{self._model} at {self._url}", self._key)


def _vectors_of(answer: "CreateEmbeddingResponse", count: int) -> Vectors:
    """Raises `ModelFailed` or `ValueError` if the answer does not hold one vector per text."""
    entries = sorted(getattr(answer, "data", None) or [], key=lambda entry: entry.index)
    if [entry.index for entry in entries] != list(range(count)):
        raise ModelFailed(f"the endpoint answered with {len(entries)} vectors for {count} texts")
    vectors = np.array([entry.embedding for entry in entries], dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise ModelFailed("the endpoint answered with vectors of no length")
    return vectors

"""Embeds with an endpoint that speaks OpenAI's protocol: OpenAI, Ollama, vLLM, TEI, llama-server and others.

`read_vectors` reads an answer, which may be anything.
"""

import asyncio
import base64
import json
import re
import reprlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from core.errors import InvalidSettings, ModelFailed
from core.execution.bounded_answers import AnswerBounds, bounding_hooks
from core.ports.embedding import Vectors
from core.ports.embedding_form import EmbeddingForm, split_form
from core.telemetry.spans import outgoing_headers
from models.embedding.normalize import finish, normalize
from models.embedding.tokens import EstimatedTokens
from models.embedding.weights import complete_form, name_form, usual_form
from models.endpoint_errors import (
    names_unknown_model,
    read_list,
    read_list_later,
    read_names,
    show_address,
    translate_errors,
)

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI


_PUBLIC = "https://api.openai.com/v1"
_NO_KEY = SecretStr("")
_TEXTS_PER_CALL = 128
_READS = 512  # the limit of the smallest models in use; `max_tokens` overrides it
_REFUSED = {400, 413, 422}
_TOO_MANY = re.compile(
    r"batch|too many|array length|tokens? per request|number of inputs|payload|entity too large", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context length|maximum (input|sequence)|input length|too long|must have less than|exceed", re.IGNORECASE
)
_ALLOWED = re.compile(
    r"(?:maximum allowed batch size|array length <=|at most|max(?:imum)?(?: of)?)[ :]*(\d{1,9})\b", re.IGNORECASE
)


class OpenAIEmbedder:
    """The client retries transient errors `retries` times, with the pauses that the endpoint requests.

    A call with more texts than the endpoint takes is sent again in smaller calls, and later calls are as small. `form`
    has the prefixes, the cut and the comparison; prefixes that it leaves out are the usual prefixes of the model's
    name. The cut is requested as `dimensions`; if the endpoint refuses or ignores that, the vectors are cut here.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "",
        api_key: SecretStr = _NO_KEY,
        max_tokens: int | None = None,
        timeout_seconds: float = 60.0,
        retries: int = 2,
        form: EmbeddingForm | None = None,
    ) -> None:
        if not base_url and not api_key.get_secret_value():
            raise InvalidSettings(
                "HOPWEAVE_EMBEDDING__KIND=openai needs HOPWEAVE_EMBEDDING__BASE_URL (a server of yours) or "
                "HOPWEAVE_EMBEDDING__API_KEY (OpenAI's)"
            )
        name, stated = split_form(model)
        if stated != EmbeddingForm():
            raise InvalidSettings(
                f"the model's name {model!r} has a form: set HOPWEAVE_EMBEDDING__MODEL to {name!r}, and "
                "HOPWEAVE_EMBEDDING__QUERY_PREFIX, __PASSAGE_PREFIX, __DIMENSION and __DOT to the rest"
            )
        self._model = model
        self._url = base_url or _PUBLIC
        self._key = api_key
        self._timeout = timeout_seconds
        self._retries = retries
        self._bounds = AnswerBounds(seconds=timeout_seconds)
        self._form = complete_form(form or EmbeddingForm(), usual_form(model))
        self._tokens = EstimatedTokens(max_tokens or _READS, prefix=self._form.passage or "")
        self._texts_per_call = _TEXTS_PER_CALL
        self._asks_dimensions = self._form.dimension is not None
        # A connection belongs to the event loop that opened it.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    @property
    def model(self) -> str:
        """The name at the endpoint, with the form if the model has prefixes or is cut."""
        return self._model + name_form(self._form)

    @property
    def form(self) -> EmbeddingForm:
        """The prefixes and the cut that are used."""
        return self._form

    @cached_property
    def dimension(self) -> int:
        """The length of the cut, or of the first answer's vectors; else the endpoint is asked in a blocking call."""
        more = 0 if self._form.dot is None else 1
        if self._form.dimension is not None:
            return self._form.dimension + more
        import openai

        hooks = bounding_hooks(self._bounds, blocking=True)
        http = openai.DefaultHttpxClient(timeout=self._timeout, event_hooks=hooks, follow_redirects=False)
        with (
            self._errors() as errors,
            openai.OpenAI(
                api_key=self._secret(),
                base_url=self._url,
                timeout=self._timeout,
                max_retries=self._retries,
                http_client=http,
            ) as client,
        ):
            try:
                told = client.embeddings.with_raw_response.create(model=self._model, input=["dimension"])
            except openai.APIStatusError as error:
                if names_unknown_model(error):
                    errors.offered = read_names(read_list(client, "/models", "data"))
                raise
            return int(read_vectors(told.content, 1).shape[1]) + more

    @property
    def tokens(self) -> EstimatedTokens:
        return self._tokens

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Sends a blank for an empty text, which endpoints refuse."""
        if not texts:
            return np.empty((0, await asyncio.to_thread(lambda: self.dimension)), dtype=np.float32)
        return await self._embed([f"{self._form.passage or ''}{text}" for text in texts], queries=False)

    async def embed_query(self, text: str) -> Vectors:
        vector: Vectors = (await self._embed([f"{self._form.query or ''}{text}"], queries=True))[0]
        return vector

    async def _embed(self, texts: Sequence[str], *, queries: bool) -> Vectors:
        sent = [text or " " for text in texts]
        vectors: list[Vectors] = []
        while sent:
            part = sent[: self._texts_per_call]
            answered = await self._call(part)
            if answered is None:
                continue
            vectors.append(answered)
            sent = sent[len(part) :]
        found = np.concatenate(vectors)
        return finish(found if self._form.dot else normalize(found), self._form, queries=queries)

    async def close(self) -> None:
        """Closes this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _call(self, texts: list[str]) -> Vectors | None:
        """Returns the vectors, or None if the endpoint refuses a call of this form and the next call will differ."""
        import openai

        asks = self._asks_dimensions
        try:
            with self._errors() as errors:
                try:
                    told = await self._client().embeddings.with_raw_response.create(
                        model=self._model,
                        input=texts,
                        dimensions=(self._form.dimension or openai.omit) if asks else openai.omit,
                        extra_headers=outgoing_headers(),
                    )
                except openai.APIStatusError as error:
                    if self._adapt(error, asks=asks, texts=len(texts)):
                        return None
                    if names_unknown_model(error):
                        with suppress(TimeoutError):
                            errors.offered = read_names(await read_list_later(self._client(), "/models", "data"))
                    raise
                vectors = read_vectors(told.content, len(texts))
        except ModelFailed as error:
            if _TOO_LONG.search(str(error)):
                raise ModelFailed(
                    f"{error} (a text is longer than the model reads: set HOPWEAVE_EMBEDDING__MAX_TOKENS to its number "
                    "of tokens, and reindex)"
                ) from error
            raise
        return self._checked(vectors)

    def _adapt(self, error: "APIStatusError", *, asks: bool, texts: int) -> bool:
        """Returns whether later calls differ, because the endpoint refused this call. `asks`: it had `dimensions`."""
        if error.status_code not in _REFUSED:
            return False
        words = str(error)
        if asks and re.search("dimensions|matryoshka", words, re.IGNORECASE):
            self._asks_dimensions = False
            return True
        if texts == 1 or (error.status_code != 413 and not _TOO_MANY.search(words)):
            return False
        allowed = _ALLOWED.search(words)
        fewer = int(allowed[1]) if allowed and 0 < int(allowed[1]) < texts else texts // 2
        self._texts_per_call = min(self._texts_per_call, fewer)
        return True

    def _checked(self, vectors: Vectors) -> Vectors:
        """Returns the vectors in the requested length. Raises `ModelFailed` if they are shorter, or of another length
        than before.
        """
        wanted, found = self._form.dimension, vectors.shape[1]
        if wanted is not None:
            if found < wanted:
                raise ModelFailed(
                    f"{self._model} at {show_address(self._url)} answered with {found} dimensions, which cannot be cut "
                    f"to {wanted}: set HOPWEAVE_EMBEDDING__DIMENSION, or `dimension` in the name of the corpus' model, "
                    f"to {found} or less"
                )
            return vectors[:, :wanted]
        found += 0 if self._form.dot is None else 1
        known = self.__dict__.setdefault("dimension", found)
        if found != known:
            raise ModelFailed(
                f"{self._model} at {show_address(self._url)} answered with {found} dimensions after {known}"
            )
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
        return translate_errors(self._model, self._url, self._key)


_GREATEST = float(np.finfo(np.float32).max)


def read_vectors(content: bytes, count: int) -> Vectors:
    """Returns the vectors in the order of the texts, of which there are `count`.

    Raises `ValueError`, which says what is wrong, if the answer does not hold a vector for each text: finite numbers,
    of which not all are zero, in lists of one length, or as float32 in base64.
    """
    rows = [_read_vector(entry.get("embedding")) for entry in _sorted_entries(content, count)]
    if {len(row) for row in rows} != {len(rows[0])}:
        raise ValueError("its vectors are of different lengths")
    if not len(rows[0]):
        raise ValueError("its vectors are of no length")
    vectors = np.stack(rows)
    if not np.all(np.abs(vectors) <= _GREATEST):  # nor NaN
        raise ValueError("a number of a vector is not finite")
    if not np.all(np.any(vectors, axis=1)):
        raise ValueError("a vector is zero")
    return vectors.astype(np.float32)


def _sorted_entries(content: bytes, count: int) -> list[dict[str, Any]]:
    try:
        answer = json.loads(content)
    except ValueError as error:  # the message of which has nothing of the answer
        raise ValueError("it is no JSON") from error
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("`data` is no list of objects")
    places = [entry.get("index") for entry in entries]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise ValueError(f"it has {len(entries)} vectors for {count} texts, or their `index` is wrong")
    return sorted(entries, key=lambda entry: int(entry["index"]))


def _read_vector(stated: Any) -> NDArray[np.float64]:
    if isinstance(stated, str):
        try:
            return np.frombuffer(base64.b64decode(stated, validate=True), np.float32).astype(np.float64)
        except ValueError as error:
            raise ValueError(f"`embedding` is {reprlib.repr(stated)}, which is no base64 of numbers") from error
    if not isinstance(stated, list):
        raise ValueError(f"`embedding` is {reprlib.repr(stated)}, which is no list")  # noqa: TRY004  # as all others
    for kind in set(map(type, stated)) - {int, float}:
        raise ValueError(f"`embedding` has a value that is no number ({kind.__name__})")
    try:
        return np.array(stated, np.float64)
    except OverflowError as error:
        raise ValueError("`embedding` has a number that is too large") from error

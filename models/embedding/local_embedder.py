"""Embeds with the models that sentence-transformers saves, on this machine's processor."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InvalidSettings
from core.execution.processes import count_cores
from core.ports.embedding import PLAIN, EmbeddingForm, TokenCounter, Vectors
from models.embedding.encoders import Encoder, check_loadable, load
from models.embedding.normalize import finish
from models.embedding.tokens import TokenizerTokens, open_tokenizer, read_max_tokens
from models.embedding.weights import BUILT_IN, complete_form, name_form, read_folder_form, resolve, usual_form

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["SentenceTransformersEmbedder"]

_BEHIND = 5
"""The niceness of the threads that embed passages."""


class SentenceTransformersEmbedder:
    """Loads the model at first use and runs it in its own threads: one per core, each with batches of its own.

    One batch spread over all cores waits at a barrier after each matrix: a fifth slower on two idle cores, and half as
    fast if another process uses one of them. Questions have separate threads, so that they never wait for a batch of
    passages; questions that arrive together are embedded together.

    `form` has the prefixes, the cut and the comparison; prefixes that it leaves out are taken from the folder, or else
    from the model's name.
    """

    def __init__(
        self,
        *,
        model: str = BUILT_IN,
        precision: str = "auto",
        batch_size: int = 16,
        form: EmbeddingForm | None = None,
    ) -> None:
        self._weights = resolve(model)
        self._stated = form or EmbeddingForm()
        self._scaled = self._stated.dot is None
        check_loadable(self._weights, scaled=self._scaled)
        self._precision = precision
        self._batch_size = batch_size
        self._cores = count_cores()
        self._for_passages = self._threads("passages", _behind_others)
        self._for_questions = self._threads("questions")
        self._loading = threading.Lock()
        self._loaded: Encoder | None = None
        self._guard = threading.Lock()
        self._open: _Questions | None = None

    def _threads(self, name: str, initializer: Callable[[], None] | None = None) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._cores, f"embedding-{name}", initializer=initializer)

    @cached_property
    def model(self) -> str:
        """The name of the weights, with the form if they have prefixes or are cut."""
        return self._weights.model + name_form(self.form, self._folder_form)

    @cached_property
    def form(self) -> EmbeddingForm:
        """The prefixes and the cut that are used."""
        own = self._folder_form
        return complete_form(self._stated, own if own.query or own.passage else usual_form(self._weights.model))

    @cached_property
    def _folder_form(self) -> EmbeddingForm:
        """The prompts of the folder. A hub name that is not on disk yet has no known prompts."""
        return read_folder_form(self._weights.folder) if self._weights.folder else PLAIN

    @cached_property
    def dimension(self) -> int:
        """Read from the model's folder; a hub name that is not on disk yet is loaded for it."""
        whole = self._weights.dimension or self._encoder().dimension
        wanted = self._stated.dimension or whole
        if wanted > whole:
            raise InvalidSettings(
                f"{self._weights.model} has vectors of {whole} dimensions, which cannot be cut to {wanted}: set "
                f"HOPWEAVE_EMBEDDING__DIMENSION, or `dimension` in the name of the corpus' model, to {whole} or less"
            )
        return wanted if self._scaled else wanted + 1

    @cached_property
    def tokens(self) -> TokenCounter:
        return TokenizerTokens(self._tokenizer, prefix=self.form.passage or "")

    async def warm(self) -> None:
        """Loads the model and runs it once, so that the first question does not wait for it."""
        await self.embed_query("warm")

    async def close(self) -> None:
        """Stops the threads after their current batch, without waiting for them."""
        self._for_passages.shutdown(wait=False)
        self._for_questions.shutdown(wait=False)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), await asyncio.to_thread(lambda: self.dimension)), dtype=np.float32)
        # Texts of similar length take similar time; short texts come last, so that no core idles for long.
        order = np.argsort([-len(text) for text in texts], kind="stable")
        batches = iter([order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)])

        async def work() -> None:
            for rows in batches:
                batch = [texts[row] for row in rows]
                vectors[rows] = await asyncio.wrap_future(self._for_passages.submit(self._encode, batch))

        # At most as many batches as cores at a time, so that cancellation leaves none queued.
        await asyncio.gather(*(work() for _ in range(self._cores)))
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        with self._guard:
            if self._open is None or len(self._open.texts) == self._batch_size:
                self._open = _Questions()
                self._open.vectors = self._for_questions.submit(self._answer, self._open)
            questions, row = self._open, len(self._open.texts)
            questions.texts.append(text)
        # Shielded, since other questions wait for the same batch.
        vectors = await asyncio.shield(asyncio.wrap_future(questions.vectors))
        vector: Vectors = vectors[row].copy()
        return vector

    def _encode(self, texts: list[str]) -> Vectors:
        vectors = self._encoder().encode(texts, queries=False, prefix=self.form.passage or "")
        return finish(vectors, self.form, queries=False)

    def _answer(self, questions: "_Questions") -> Vectors:
        encoder = self._encoder()
        with self._guard:
            if self._open is questions:
                self._open = None
        vectors = encoder.encode(questions.texts, queries=True, prefix=self.form.query or "")
        return finish(vectors, self.form, queries=True)

    def _encoder(self) -> Encoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = load(self._weights, self._precision, threads=self._cores, scaled=self._scaled)
            return self._loaded

    def _tokenizer(self) -> "tuple[Tokenizer, int]":
        folder = self._weights.folder
        if folder and (tokenizer := open_tokenizer(folder)) and (reads := read_max_tokens(folder)):
            return tokenizer, reads
        return self._encoder().tokenizer()


def _behind_others() -> None:
    """Lowers the priority of the calling thread, and of threads that it starts, so that the event loop is not
    delayed.
    """
    if sys.platform == "linux":  # elsewhere threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _BEHIND)


class _Questions:
    """A batch of questions; open until a thread starts to encode it."""

    vectors: "Future[Vectors]"

    def __init__(self) -> None:
        self.texts: list[str] = []

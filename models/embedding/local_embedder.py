"""Embedding on this machine's processor."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from core.ports.embedding import TokenCounter, Vectors
from models.embedding.encoding import Encoder, load
from models.embedding.tokens import TokenizerTokens, open_tokenizer, tokens_read
from models.embedding.weights import BUILT_IN, resolve

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["SentenceTransformersEmbedder"]

_BEHIND = 5
"""Niceness of the threads that embed passages."""


class SentenceTransformersEmbedder:
    """Loads the model at first use, and runs it in threads of its own: one a core, each batch in one of them.

    The other way, one batch spread over all cores, waits at a barrier after each matrix: a fifth slower on two free
    cores, and half as fast where another process wants one of them. Questions have their own threads, so that they
    never wait for a batch of passages; those that wait for one another are embedded together.
    """

    def __init__(self, *, model: str = BUILT_IN, precision: str = "auto", batch_size: int = 16) -> None:
        self._weights = resolve(model)
        self._precision = precision
        self._batch_size = batch_size
        self._cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._for_passages = self._threads("passages", _behind_others)
        self._for_questions = self._threads("questions", _on_one_core)
        self._loading = threading.Lock()
        self._loaded: Encoder | None = None
        self._guard = threading.Lock()
        self._open: _Questions | None = None

    def _threads(self, name: str, initializer: Callable[[], None]) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._cores, f"embedding-{name}", initializer=initializer)

    @property
    def model(self) -> str:
        return self._weights.model

    @cached_property
    def dimension(self) -> int:
        """Told by the model's folder; a hub name that is not on disk yet is loaded for it."""
        return self._weights.dimension or self._encoder().dimension

    @cached_property
    def tokens(self) -> TokenCounter:
        return TokenizerTokens(self._tokenizer)

    async def warm(self) -> None:
        """Load the model and run it once, so that the first question does not wait for it."""
        await self.embed_query("warm")

    async def close(self) -> None:
        """End the threads; what they are at is finished first, and nobody waits for it."""
        self._for_passages.shutdown(wait=False)
        self._for_questions.shutdown(wait=False)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), await asyncio.to_thread(lambda: self.dimension)), dtype=np.float32)
        # texts of like length take like time, and the short ones at the end leave no core idle for long
        order = np.argsort([-len(text) for text in texts], kind="stable")
        batches = iter([order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)])

        async def work() -> None:
            for rows in batches:
                batch = [texts[row] for row in rows]
                vectors[rows] = await asyncio.wrap_future(self._for_passages.submit(self._encode, batch))

        # no more batches at a time than cores: what is cancelled or fails leaves none behind
        await asyncio.gather(*(work() for _ in range(self._cores)))
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        with self._guard:
            if self._open is None or len(self._open.texts) == self._batch_size:
                self._open = _Questions()
                self._open.vectors = self._for_questions.submit(self._answer, self._open)
            questions, row = self._open, len(self._open.texts)
            questions.texts.append(text)
        # shielded: whoever stops waiting must not take the answer from the others
        vectors = await asyncio.shield(asyncio.wrap_future(questions.vectors))
        vector: Vectors = vectors[row].copy()
        return vector

    def _encode(self, texts: list[str]) -> Vectors:
        return self._encoder().encode(texts, queries=False)

    def _answer(self, questions: "_Questions") -> Vectors:
        encoder = self._encoder()
        with self._guard:
            if self._open is questions:
                self._open = None
        return encoder.encode(questions.texts, queries=True)

    def _encoder(self) -> Encoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = load(self._weights, self._precision)
            return self._loaded

    def _tokenizer(self) -> "tuple[Tokenizer, int]":
        folder = self._weights.folder
        if folder and (tokenizer := open_tokenizer(folder)) and (reads := tokens_read(folder)):
            return tokenizer, reads
        return self._encoder().tokenizer()


def _on_one_core() -> None:
    """For the thread that calls it, and for every thread that has not used torch yet."""
    import torch

    torch.set_num_threads(1)


def _behind_others() -> None:
    """For the thread that calls it: the event loop, which a language model may be waiting for, goes first."""
    _on_one_core()
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _BEHIND)


class _Questions:
    """Questions that will be embedded together; open until a thread takes them up."""

    vectors: "Future[Vectors]"

    def __init__(self) -> None:
        self.texts: list[str] = []

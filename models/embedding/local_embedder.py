"""Embeds with the models that sentence-transformers saves, on this machine's processor.

The encoders come first, which load sentence models into memory. Importing this module loads nothing; `load` does.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from core.errors import InvalidSettings
from core.execution.processes import count_cores
from core.ports.embedding import TokenCounter, Vectors
from core.ports.embedding_form import PLAIN, EmbeddingForm
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import read_layout
from models.embedding.normalize import finish, normalize
from models.embedding.tokens import TokenizerTokens, open_tokenizer, read_max_tokens
from models.embedding.weights import BUILT_IN, Weights, complete_form, name_form, read_folder_form, resolve, usual_form
from models.models_extra import has_models_extra, require_models_extra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer


_CPUINFO = Path("/proc/cpuinfo")
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}  # the first two on x86, the last on arm


@cache
def has_bfloat16() -> bool:
    """Returns whether the processor multiplies bfloat16 matrices; emulated, they are slower than float32."""
    try:
        lines = _CPUINFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # not Linux; float32 works everywhere
        return False
    return any(
        _BFLOAT16.intersection(value.split())
        for name, _, value in (line.partition(":") for line in lines)
        if name.strip() in {"flags", "Features"}
    )


class Encoder(Protocol):
    """A model in memory. Thread-safe."""

    @property
    def dimension(self) -> int: ...

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        """Returns a new tokenizer and the maximum number of tokens, special tokens included."""
        ...

    def encode(self, texts: Sequence[str], *, queries: bool, prefix: str = "") -> Vectors:
        """Encodes one batch of at least one text, each behind the prefix, as unit vectors if loaded `scaled`."""
        ...


def load(weights: Weights, precision: str, *, threads: int, scaled: bool = True) -> Encoder:
    """Raises `InvalidSettings` if the weights are missing or cannot be loaded. `threads` is how many will encode.

    Unless `scaled`, vectors are as the model makes them, by sentence-transformers.
    """
    bfloat16 = precision == "bfloat16" or (precision == "auto" and has_bfloat16())
    layout = read_layout(weights.folder) if weights.folder and scaled else None
    if layout:
        return BertEncoder(layout, weights, bfloat16=bfloat16, threads=threads)
    return _load_any(weights, bfloat16=bfloat16, scaled=scaled)


def _check_loadable(weights: Weights, *, scaled: bool = True) -> None:
    """Raises `InvalidSettings` if the weights need sentence-transformers, and it is not installed."""
    own = weights.model == BUILT_IN or (weights.folder and read_layout(weights.folder))
    if has_models_extra() or (own and scaled):
        return
    require_models_extra(f"embedding.model {weights.model!r}")


def _load_any(weights: Weights, *, bfloat16: bool, scaled: bool) -> "SentenceTransformerEncoder":
    require_models_extra(f"embedding.model {weights.model!r}")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # a progress bar is of no use in a server's log
    try:
        model = SentenceTransformer(weights.source, device="cpu", local_files_only=weights.folder is not None)
    except Exception as error:  # libraries raise anything over damaged files
        raise InvalidSettings(
            f"embedding.model {weights.model!r} cannot be loaded: name the built-in model, a folder that "
            f"sentence-transformers has saved, or a hub name (once with the network, then it is on disk): {error}"
        ) from error
    model.to(torch.bfloat16 if bfloat16 else torch.float32).eval()
    return SentenceTransformerEncoder(model, scaled=scaled)


class SentenceTransformerEncoder:
    """Any model that sentence-transformers can load. Its own prompts are not used: the caller has read them."""

    def __init__(self, model: "SentenceTransformer", *, scaled: bool = True) -> None:
        self._model = model
        self._scaled = scaled

    @property
    def dimension(self) -> int:
        return _read_dimension(self._model)

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        return _copy_tokenizer(self._model)

    def encode(self, texts: Sequence[str], *, queries: bool, prefix: str = "") -> Vectors:
        """Hands over the prefix as a prompt: some models leave it out of the mean."""
        _use_one_core()
        encode = self._model.encode_query if queries else self._model.encode_document
        vectors = encode(
            list(texts), prompt=prefix, batch_size=len(texts), convert_to_tensor=True, show_progress_bar=False
        )
        found: Vectors = vectors.float().numpy()
        return normalize(found) if self._scaled else found


def _use_one_core() -> None:
    """Limits torch to one core in the calling thread and in every thread that has not used torch yet."""
    import torch

    torch.set_num_threads(1)


def _read_dimension(model: "SentenceTransformer") -> int:
    dimension = model.get_embedding_dimension()
    if not isinstance(dimension, int):
        raise InvalidSettings("the embedding model does not tell the length of its vectors: choose another")
    return dimension


def _copy_tokenizer(model: "SentenceTransformer") -> "tuple[Tokenizer, int]":
    """Returns a copy of the tokenizer, so that truncation can be set on it, and the maximum number of tokens."""
    from tokenizers import Tokenizer

    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    reads: Any = model.max_seq_length
    if backend is None or not isinstance(reads, int):
        raise InvalidSettings("the embedding model has no fast tokenizer, or reads no known length: choose another")
    return Tokenizer.from_str(backend.to_str()), reads


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
        _check_loadable(self._weights, scaled=self._scaled)
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

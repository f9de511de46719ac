"""Loads sentence models into memory. Importing this module loads nothing; `load` does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import read_layout
from models.embedding.normalize import normalize
from models.embedding.processor import has_bfloat16
from models.embedding.weights import BUILT_IN, Weights
from models.models_extra import has_models_extra, require_models_extra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

__all__ = ["Encoder", "check_loadable", "copy_tokenizer", "load", "read_dimension"]


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


def check_loadable(weights: Weights, *, scaled: bool = True) -> None:
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

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # a progress bar is of no use in a server's log
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
        return read_dimension(self._model)

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        return copy_tokenizer(self._model)

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


def read_dimension(model: "SentenceTransformer") -> int:
    dimension = model.get_embedding_dimension()
    if not isinstance(dimension, int):
        raise InvalidSettings("the embedding model does not tell the length of its vectors: choose another")
    return dimension


def copy_tokenizer(model: "SentenceTransformer") -> "tuple[Tokenizer, int]":
    """Returns a copy of the tokenizer, so that truncation can be set on it, and the maximum number of tokens."""
    from tokenizers import Tokenizer

    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    reads: Any = model.max_seq_length
    if backend is None or not isinstance(reads, int):
        raise InvalidSettings("the embedding model has no fast tokenizer, or reads no known length: choose another")
    return Tokenizer.from_str(backend.to_str()), reads

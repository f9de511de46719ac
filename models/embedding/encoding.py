"""Loaded sentence-transformers models; importing this module loads nothing, `load` does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import read_layout
from models.embedding.processor import has_bfloat16
from models.embedding.unit import normalised
from models.embedding.weights import Weights

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

__all__ = ["Encoder", "dimension_of", "load", "tokenizer_of"]


class Encoder(Protocol):
    """A model in memory; several threads may encode at once."""

    @property
    def dimension(self) -> int: ...

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        """A tokenizer of the caller's own, and how many tokens the model reads, special ones included."""
        ...

    def encode(self, texts: Sequence[str], *, queries: bool) -> Vectors:
        """One batch, at least one text, as unit vectors."""
        ...


def load(weights: Weights, precision: str) -> Encoder:
    """Raises `InvalidSettings` where the weights are missing or not a model that sentence-transformers reads."""
    weights.verify()
    bfloat16 = precision == "bfloat16" or (precision == "auto" and has_bfloat16())
    layout = read_layout(weights.folder) if weights.folder else None
    return BertEncoder(layout, bfloat16=bfloat16) if layout else _load_any(weights, bfloat16=bfloat16)


def _load_any(weights: Weights, *, bfloat16: bool) -> "AnyEncoder":
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # a bar in a server's log tells nobody anything
    try:
        model = SentenceTransformer(weights.source, device="cpu", local_files_only=weights.folder is not None)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InvalidSettings(
            f"embedding.model {weights.model!r} cannot be loaded: name the built-in model, a folder that "
            f"sentence-transformers has saved, or a hub name (once with the network, then it is on disk): {error}"
        ) from error
    model.to(torch.bfloat16 if bfloat16 else torch.float32).eval()
    return AnyEncoder(model)


class AnyEncoder:
    """Whatever sentence-transformers can load, prompts included, the way that it does it itself."""

    def __init__(self, model: "SentenceTransformer") -> None:
        self._model = model

    @property
    def dimension(self) -> int:
        return dimension_of(self._model)

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        return tokenizer_of(self._model)

    def encode(self, texts: Sequence[str], *, queries: bool) -> Vectors:
        encode = self._model.encode_query if queries else self._model.encode_document
        vectors = encode(list(texts), batch_size=len(texts), convert_to_tensor=True, show_progress_bar=False)
        return normalised(vectors.float().numpy())


def dimension_of(model: "SentenceTransformer") -> int:
    dimension = model.get_embedding_dimension()
    if not isinstance(dimension, int):
        raise InvalidSettings("the embedding model does not tell the length of its vectors: choose another")
    return dimension


def tokenizer_of(model: "SentenceTransformer") -> "tuple[Tokenizer, int]":
    """A copy, so that truncation can be set on it."""
    from tokenizers import Tokenizer

    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    reads: Any = model.max_seq_length
    if backend is None or not isinstance(reads, int):
        raise InvalidSettings("the embedding model has no fast tokenizer, or reads no known length: choose another")
    return Tokenizer.from_str(backend.to_str()), reads

"""Text to vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "TokenCounter", "Vectors"]

Vectors = NDArray[np.float32]


class TokenCounter(Protocol):
    """Measures text in the tokens of the embedding model."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of one text the model reads, special tokens not counted."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens not counted, never truncated. Empty in, empty out; '' counts 0."""
        ...

    def unknown(self, texts: Sequence[str]) -> list[int] | None:
        """How many of each text's tokens stand for something that the model cannot read; None: nobody can tell."""
        ...


class Embedder(Protocol):
    """Embeds texts as unit vectors, so that a dot product is the cosine.

    `model` names weights, not precision: vectors of equal `model` and `dimension` may be compared.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def tokens(self) -> TokenCounter: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32, rows in the order of the texts; no text gives shape (0, dimension).

        Raises `Unavailable` where the model cannot be reached, `ModelFailed` where its answer is of no use.
        """
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,), float32: for models that treat questions and passages differently."""
        ...

    async def close(self) -> None:
        """Give back connections and threads; nothing is embedded afterwards."""
        ...

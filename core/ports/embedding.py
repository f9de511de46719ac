"""The port of embedding models: texts to unit vectors, and the count of their tokens."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class TokenCounter(Protocol):
    """Counts tokens of the embedding model."""

    @property
    def max_tokens(self) -> int:
        """The number of tokens of one text that the model reads, without special tokens."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Returns the tokens of each text, without special tokens, never truncated. No texts give []; '' counts 0."""
        ...

    def unknown(self, texts: Sequence[str]) -> list[int] | None:
        """Returns how many of each text's tokens stand for something that the model cannot read; None if that is
        unknown.
        """
        ...


class Embedder(Protocol):
    """Embeds texts as unit vectors, so that a dot product is the cosine.

    `model` names weights, prefixes and a cut (`core.ports.embedding_form`), not precision: vectors of equal `model` and
    `dimension` are comparable.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def tokens(self) -> TokenCounter: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Returns vectors of shape (len(texts), dimension), float32, in the order of the texts; (0, dimension) without
        texts.

        Raises `Unavailable` if the model cannot be reached, `ModelFailed` if its answer cannot be used.
        """
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector of shape (dimension,), float32; some models treat questions and passages differently.

        Raises what `embed_passages` raises.
        """
        ...

    async def close(self) -> None:
        """Closes connections and threads; nothing may be embedded afterwards."""
        ...

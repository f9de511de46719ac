"""A deterministic embedder without a model: texts that share words, or parts of words, are near."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from core.ports.embedding import TokenCounter, Vectors

__all__ = ["TwinEmbedder", "TwinTokens"]

_WORD = re.compile(r"\w+|[^\w\s]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class TwinTokens:
    """A token is a word or a sign; scripts that are written without spaces count characters."""

    def __init__(self, max_tokens: int = 64) -> None:
        self.max_tokens = max_tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(_pieces(text)) for text in texts]

    def unknown(self, texts: Sequence[str]) -> list[int] | None:
        return [0] * len(texts)


class TwinEmbedder:
    """Sums up hashed directions of a text's words and their three-letter parts."""

    def __init__(self, dimension: int = 64, max_tokens: int = 64, model: str = "twin") -> None:
        self.model = model
        self.dimension = dimension
        self.tokens: TokenCounter = TwinTokens(max_tokens)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        return self._vector(text)

    async def close(self) -> None:
        """There is nothing to give back."""

    def _vector(self, text: str) -> Vectors:
        total = np.zeros(self.dimension, dtype=np.float64)
        for piece in _pieces(text.casefold()):
            total += self._direction(piece)
            for start in range(len(piece) - 2):
                total += 0.3 * self._direction("#" + piece[start : start + 3])
        if not total.any():
            total[0] = 1.0
        unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return unit

    def _direction(self, feature: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        seed = int.from_bytes(hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dimension)


def _pieces(text: str) -> list[str]:
    return [piece for word in _WORD.findall(text) for piece in (list(word) if _CJK.search(word) else [word])]

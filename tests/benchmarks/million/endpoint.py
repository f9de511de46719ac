"""An embedding endpoint without a model, whose vectors are nearer to each other the more words the texts share."""

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tests.benchmarks.documents.endpoint import QuickEmbeddings, chosen

__all__ = ["DIMENSION", "word_embeddings"]

DIMENSION = 384
_ROWS = 1 << 14
_WORD = re.compile(r"\w+")


class WordEmbeddings(QuickEmbeddings):
    """A vector is the sum of the random vectors of the text's words."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self._words = np.random.default_rng(0).standard_normal((_ROWS, dimension), dtype=np.float32)

    def _vector(self, text: str) -> str:
        rows = [zlib.crc32(word.encode()) % _ROWS for word in _WORD.findall(text)] or [0]
        return base64.b64encode(self._words[rows].sum(axis=0).astype("<f4").tobytes()).decode("ascii")


@contextmanager
def word_embeddings() -> Iterator[WordEmbeddings]:
    """Serves, and sets the settings that choose the endpoint, for this process and its workers."""
    with WordEmbeddings(DIMENSION) as server, chosen(server):
        yield server

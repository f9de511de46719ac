"""Embedding endpoints without a model, for measurements in which embedding should cost next to nothing.

Of `word_embeddings`, vectors are nearer to each other the more words the texts share.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tests.servers.installation import configured
from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["DIMENSION", "QuickEmbeddings", "chosen", "embedding_endpoint", "word_embeddings"]


class QuickEmbeddings(JsonServer):
    """Answers with the bytes of a digest of each text as its vector. Texts are equally far from each other."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self._dimension = dimension

    def respond(self, request: Request) -> Reply:
        self.requests.clear()  # they hold the texts
        texts = request.body["input"]
        data = [{"object": "embedding", "index": n, "embedding": self._vector(text)} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return Reply(body={"object": "list", "data": data, "model": request.body["model"], "usage": usage})

    def _vector(self, text: str) -> str:
        digest = hashlib.shake_128(text.encode()).digest(self._dimension)
        return base64.b64encode(np.frombuffer(digest, np.int8).astype("<f4").tobytes()).decode("ascii")


@contextmanager
def embedding_endpoint(dimension: int = 64) -> Iterator[QuickEmbeddings]:
    """Serves, and sets the settings that choose the endpoint, for this process and its workers."""
    with QuickEmbeddings(dimension) as server, chosen(server):
        yield server


@contextmanager
def chosen(server: QuickEmbeddings) -> Iterator[None]:
    """Sets the settings that choose the endpoint."""
    settings = {
        "KIND": "openai",
        "MODEL": "quick",
        "BASE_URL": f"{server.url}/v1",
        "API_KEY": "none",
        "MAX_TOKENS": "256",
    }
    with configured({f"HOPWEAVE_EMBEDDING__{name}": value for name, value in settings.items()}):
        yield


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

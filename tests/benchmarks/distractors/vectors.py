"""Vectors of passages, kept in a folder, so that a measurement that was interrupted does not embed again."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.ports.embedding import Embedder, TokenCounter, Vectors

__all__ = ["KeptVectors", "WrappedEmbedder"]


class WrappedEmbedder:
    """Questions and all that describes the model are the other's. Subclasses have `embed_passages`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def tokens(self) -> TokenCounter:
        return self._embedder.tokens

    async def embed_query(self, text: str) -> Vectors:
        return await self._embedder.embed_query(text)

    async def close(self) -> None:
        await self._embedder.close()


_PART = 512


class KeptVectors(WrappedEmbedder):
    """An embedding model whose vectors are kept in files of some hundred, by model and text."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        super().__init__(embedder)
        self._folder = folder / hashlib.sha256(embedder.model.encode()).hexdigest()[:12]
        self._folder.mkdir(parents=True, exist_ok=True)
        self._vectors: dict[bytes, Vectors] = {}
        self._files = 0
        for file in sorted(self._folder.glob("*.npz")):
            with np.load(file) as held:
                self._vectors |= zip(map(bytes, held["keys"]), held["vectors"], strict=True)
            self._files = int(file.stem) + 1
        self.embedded = 0
        """How many passages were not in the folder."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        missing = [place for place, key in enumerate(keys) if key not in self._vectors]
        for start in range(0, len(missing), _PART):
            part = missing[start : start + _PART]
            vectors = await self._embedder.embed_passages([texts[place] for place in part])
            self._keep([keys[place] for place in part], vectors)
        self.embedded += len(missing)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([self._vectors[key] for key in keys])

    def _keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        self._vectors |= zip(keys, vectors, strict=True)
        unfinished = self._folder / "unfinished"
        with unfinished.open("wb") as file:
            np.savez(file, keys=np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16), vectors=vectors)
        unfinished.replace(self._folder / f"{self._files:06d}.npz")
        self._files += 1

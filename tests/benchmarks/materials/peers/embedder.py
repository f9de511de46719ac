"""The built-in embedding model in the process of a peer. Open it to see that all peers embed as Hopweave does."""

from collections.abc import Sequence

import numpy as np

from core.execution.processes import count_cores
from models.embedding.local_embedder import load
from models.embedding.weights import BUILT_IN, resolve
from tests.benchmarks.materials.peers.exchange import Material, Vectors

__all__ = ["BuiltInModel", "OtherModel"]

_LEAST_COSINE = 0.999
_COMPARED = 8
_BATCH = 16


class OtherModel(ValueError):
    """The vectors of the material are not those of the built-in model."""


class BuiltInModel:
    """Embeds one batch at a time in the calling thread, as the peers call it. Compiled as Hopweave compiles it."""

    def __init__(self) -> None:
        self._encoder = load(resolve(BUILT_IN), "auto", threads=count_cores())

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def embed_question(self, text: str) -> Vectors:
        """Returns the unit vector of a question."""
        vector: Vectors = self._encoder.encode([text], queries=True)[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Returns a unit vector in a row for each text."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))  # a batch is as slow as its longest text
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            vectors[rows] = self._encoder.encode([texts[row] for row in rows], queries=False)
        return vectors

    def check_same(self, material: Material) -> None:
        """Raises `OtherModel` if the first questions of the material have other vectors here."""
        for question, given in zip(material.questions[:_COMPARED], material.question_vectors, strict=False):
            cosine = float(self.embed_question(question.text) @ given)
            if cosine < _LEAST_COSINE:
                raise OtherModel(f"question {question.id!r} has a cosine of {cosine:.4f} with its given vector")

"""Vectors of passages that are not embedded, from those of passages that are made of the same sentences."""

import random
from collections.abc import Sequence

import numpy as np

from core.ports.embedding import Embedder, Vectors
from tests.benchmarks.distractors.recombining import Recombined
from tests.benchmarks.distractors.vectors import WrappedEmbedder

__all__ = ["ApproximateVectors"]

_SEED = 23


class ApproximateVectors(WrappedEmbedder):
    """An embedding model that embeds the first `exact` recombined passages, and approximates those after them.

    An approximate vector is the mean of the vectors of the real passages whose sentences the passage has, and the
    residual of an embedded passage that begins with the same real one: what other names do to such a mean. So vectors
    lie as those of embedded passages do, and have nothing to do with the passage's own names.
    """

    def __init__(self, embedder: Embedder, exact: int) -> None:
        super().__init__(embedder)
        self._exact = exact
        self._real: list[Vectors] = []
        self._residuals: dict[int, list[Vectors]] = {}
        self._made = 0
        self._expected: dict[str, Recombined] = {}
        self._rng = random.Random(_SEED)

    async def learn_real(self, texts: Sequence[str]) -> None:
        """Embeds the real passages, in the order of the numbers of `Recombined.sources`."""
        self._real = list(await self._embedder.embed_passages(texts))

    def expect(self, made: Sequence[Recombined]) -> None:
        """Announces the recombined passages that are embedded next."""
        self._expected = {one.passage.embedded: one for one in made}

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        announced = [self._expected.get(text) for text in texts]
        if any(one is None for one in announced):
            return await self._embedder.embed_passages(texts)
        made = sorted((one for one in announced if one is not None), key=lambda one: one.passage.key)
        exact = made[: max(0, self._exact - self._made)]
        self._made += len(made)
        found = dict(zip((one.passage.key for one in exact), await self._embed(exact), strict=True))
        for one in made[len(exact) :]:
            found[one.passage.key] = self._approximate(one)
        return np.stack([found[one.passage.key] for one in announced if one is not None])

    async def _embed(self, made: Sequence[Recombined]) -> Vectors:
        vectors = await self._embedder.embed_passages([one.passage.embedded for one in made])
        for one, vector in zip(made, vectors, strict=True):
            self._residuals.setdefault(one.sources[0], []).append(vector - self._mean(one))
        return vectors

    def _approximate(self, one: Recombined) -> Vectors:
        known = self._residuals.get(one.sources[0]) or self._rng.choice(list(self._residuals.values()))
        vector = self._mean(one) + self._rng.choice(known)
        unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit

    def _mean(self, one: Recombined) -> Vectors:
        mean: Vectors = np.mean([self._real[source] for source in one.sources], axis=0)
        return mean

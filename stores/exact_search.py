"""Exact nearest neighbours in memory: pure maths over values, for stores that keep vectors without searching them."""

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.views import Scored

__all__ = ["VectorSnapshot"]

_GROWTH = 1.25
_GATHER = 20_000
"""Up to this many rows of a filter are copied together and multiplied alone."""

_CELLS = 16_000_000
"""How many scores `within` holds at once: 64 MB."""

_MARGIN = 1e-5
"""More than float32 products of unit vectors are ever off by: what may be among the best is looked at again."""


@dataclass(frozen=True, kw_only=True)
class VectorSnapshot:
    """The vectors of one collection at one moment.

    A later snapshot shares the arrays, lists and maps of an earlier one and only appends beyond its `size`, so readers
    of the earlier one are never disturbed. Only the latest snapshot may be extended, by one thread at a time.
    """

    matrix: Vectors
    rows: NDArray[np.int64]
    """The store's number of each row, ascending."""
    owners: NDArray[np.int32]
    """Of each row, the value of its document in `documents`."""
    ids: list[str]
    documents: dict[str, int]
    size: int = 0
    alive: NDArray[np.bool_] | None = None
    """Which of the first `size` rows are still there; None: all."""

    @classmethod
    def empty(cls, dimension: int, capacity: int = 0) -> "VectorSnapshot":
        return cls(
            matrix=np.empty((capacity, dimension), dtype=np.float32),
            rows=np.empty(capacity, dtype=np.int64),
            owners=np.empty(capacity, dtype=np.int32),
            ids=[],
            documents={},
        )

    def extended(
        self, rows: Sequence[int], ids: Sequence[str], documents: Sequence[str], vectors: Vectors
    ) -> "VectorSnapshot":
        """With these rows too; `rows` ascend, and lie beyond all that are here."""
        end = self.size + len(rows)
        grown = self if end <= len(self.matrix) else self._grown(max(end, int(len(self.matrix) * _GROWTH)))
        added = slice(self.size, end)
        grown.matrix[added] = vectors
        grown.rows[added] = rows
        grown.owners[added] = [grown.documents.setdefault(document, len(grown.documents)) for document in documents]
        del grown.ids[self.size :]  # of an extension that did not come to its end
        grown.ids.extend(ids)
        alive = None if self.alive is None else np.concatenate([self.alive, np.ones(len(rows), dtype=np.bool_)])
        return replace(grown, size=end, alive=alive)

    def without(self, rows: NDArray[np.int64]) -> "VectorSnapshot":
        """Without these rows, which may be unknown. Once half of all are gone, the rest moves together."""
        known = self.rows[: self.size]
        places = np.searchsorted(known, rows)
        within = places < self.size
        gone = places[within][known[places[within]] == rows[within]]
        if not gone.size:
            return self
        alive = np.ones(self.size, dtype=np.bool_) if self.alive is None else self.alive.copy()
        alive[gone] = False
        return _compacted(self, alive) if 2 * np.count_nonzero(alive) <= self.size else replace(self, alive=alive)

    def search(self, query: Vectors, k: int, documents: Collection[str] | None) -> list[Scored]:
        """The `k` best by dot product, ties by id, of all or of these documents."""
        chosen = self._chosen(documents)
        if chosen is None:
            scores = self.matrix[: self.size] @ query
        elif chosen.size <= _GATHER:
            scores = self.matrix[chosen] @ query
        else:
            scores = (self.matrix[: self.size] @ query)[chosen]
        places = _leading(scores, k)
        if chosen is not None:
            places = chosen[places]
        ranked = heapq.nsmallest(
            k, zip((-self._exact(query, places)).tolist(), (self.ids[i] for i in places), strict=True)
        )
        return [Scored(id=id_, score=-score) for score, id_ in ranked]

    def within(self, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """For each of these vectors all rows with a dot product of at least `threshold`, best first, ties by id."""
        found = []
        at_once = max(1, _CELLS // max(1, self.size))
        for start in range(0, len(vectors), at_once):
            block = vectors[start : start + at_once]
            near = block @ self.matrix[: self.size].T >= threshold - _MARGIN
            if self.alive is not None:
                near &= self.alive
            found += [
                self._above(vector, np.flatnonzero(row), threshold) for vector, row in zip(block, near, strict=True)
            ]
        return found

    def _above(self, vector: Vectors, places: NDArray[np.intp], threshold: float) -> list[Scored]:
        exact = self._exact(vector, places).tolist()
        pairs = sorted((-score, self.ids[i]) for score, i in zip(exact, places, strict=True) if score >= threshold)
        return [Scored(id=id_, score=-score) for score, id_ in pairs]

    def _exact(self, vector: Vectors, places: NDArray[np.intp]) -> Vectors:
        """BLAS adds up in an order that depends on a row's place: equal vectors get equal scores only in this way."""
        exact: NDArray[np.float64] = np.einsum("ij,j->i", self.matrix[places], vector, dtype=np.float64)
        return exact.astype(np.float32)

    def _chosen(self, documents: Collection[str] | None) -> NDArray[np.intp] | None:
        """The places of the rows that may be answered; None: all of the first `size`."""
        if documents is None:
            return None if self.alive is None else np.flatnonzero(self.alive)
        wanted = np.zeros(len(self.documents) + 1, dtype=np.bool_)
        numbers = (self.documents.get(document, -1) for document in documents)
        wanted[[number for number in numbers if 0 <= number < len(wanted)]] = True
        mask = wanted[self.owners[: self.size]]
        return np.flatnonzero(mask if self.alive is None else mask & self.alive)

    def _grown(self, capacity: int) -> "VectorSnapshot":
        room = VectorSnapshot.empty(self.matrix.shape[1], capacity)
        room.matrix[: self.size] = self.matrix[: self.size]
        room.rows[: self.size] = self.rows[: self.size]
        room.owners[: self.size] = self.owners[: self.size]
        return replace(self, matrix=room.matrix, rows=room.rows, owners=room.owners)


def _compacted(snapshot: VectorSnapshot, alive: NDArray[np.bool_]) -> VectorSnapshot:
    places = np.flatnonzero(alive)
    return replace(
        snapshot,
        matrix=snapshot.matrix[places],
        rows=snapshot.rows[places],
        owners=snapshot.owners[places],
        ids=[snapshot.ids[i] for i in places],
        size=places.size,
        alive=None,
    )


def _leading(scores: Vectors, k: int) -> NDArray[np.intp]:
    """The places of the `k` highest scores and of all that come within the margin of them."""
    if k >= scores.size:
        return np.arange(scores.size)
    last = np.partition(scores, scores.size - k)[scores.size - k]
    return np.flatnonzero(scores >= last - _MARGIN * max(1.0, abs(float(last))))

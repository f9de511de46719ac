"""Exact nearest neighbours in memory, for stores that keep vectors without an index. Pure computation on arrays."""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.views import Scored

_GROWTH = 1.25
GATHER = 20_000
"""Up to this many rows of a filter are copied and multiplied; beyond, all rows are multiplied."""

_CELLS = 16_000_000
"""How many scores `within` computes at once: 64 MB."""

MARGIN = 1e-5
"""More than the error of any float32 product of unit vectors. Scores within this margin are computed again exactly."""


@dataclass(frozen=True, kw_only=True)
class VectorSnapshot:
    """The vectors of one collection at one moment.

    A later snapshot shares the arrays, lists and maps of an earlier snapshot and only appends beyond its `size`, so
    readers of the earlier snapshot see no change. Only the latest snapshot may be extended, by one thread at a time.
    """

    matrix: Vectors
    rows: NDArray[np.int64]
    """The number of each row in the store, ascending."""
    owners: NDArray[np.int32]
    """The document of each row, as its number in `documents`."""
    ids: list[str]
    places: dict[str, int]
    """The last row of each id, perhaps of a later snapshot."""
    documents: dict[str, int]
    size: int = 0
    alive: NDArray[np.bool_] | None = None
    """Which of the first `size` rows are not deleted; None: all."""

    @property
    def last_place(self) -> int:
        """The number of the last row in the store; -1 without rows."""
        return int(self.rows[self.size - 1]) if self.size else -1

    @classmethod
    def empty(cls, dimension: int, capacity: int = 0) -> "VectorSnapshot":
        return cls(
            matrix=np.empty((capacity, dimension), dtype=np.float32),
            rows=np.empty(capacity, dtype=np.int64),
            owners=np.empty(capacity, dtype=np.int32),
            ids=[],
            places={},
            documents={},
        )

    def extended(
        self, rows: Sequence[int], ids: Sequence[str], documents: Sequence[str], vectors: Vectors
    ) -> "VectorSnapshot":
        """Returns a snapshot with these rows added. `rows` ascend and are greater than all existing rows."""
        end = self.size + len(rows)
        grown = self if end <= len(self.matrix) else self._grow(max(end, int(len(self.matrix) * _GROWTH)))
        added = slice(self.size, end)
        grown.matrix[added] = vectors
        grown.rows[added] = rows
        grown.owners[added] = [grown.documents.setdefault(document, len(grown.documents)) for document in documents]
        del grown.ids[self.size :]  # left by an extension that failed
        grown.ids.extend(ids)
        grown.places.update(zip(ids, range(self.size, end), strict=True))
        alive = None if self.alive is None else np.concatenate([self.alive, np.ones(len(rows), dtype=np.bool_)])
        return replace(grown, size=end, alive=alive)

    def without(self, rows: NDArray[np.int64]) -> "VectorSnapshot":
        """Returns a snapshot without these rows, which may be unknown. Compacts it if half of all rows are deleted."""
        known = self.rows[: self.size]
        places = np.searchsorted(known, rows)
        within = places < self.size
        gone = places[within][known[places[within]] == rows[within]]
        if not gone.size:
            return self
        alive = np.ones(self.size, dtype=np.bool_) if self.alive is None else self.alive.copy()
        alive[gone] = False
        return _compact(self, alive) if 2 * np.count_nonzero(alive) <= self.size else replace(self, alive=alive)

    def search(self, query: Vectors, k: int, documents: Collection[str] | None) -> list[Scored]:
        """Returns the `k` best by dot product, ties by id, of all documents or of these."""
        chosen = self._select_places(documents)
        if chosen is None:
            scores = self.matrix[: self.size] @ query
        elif chosen.size <= GATHER:
            scores = self.matrix[chosen] @ query
        else:
            scores = (self.matrix[: self.size] @ query)[chosen]
        places = select_leading(scores, k)
        if chosen is not None:
            places = chosen[places]
        ranked = heapq.nsmallest(
            k, zip((-score_exactly(self.matrix[places], query)).tolist(), (self.ids[i] for i in places), strict=True)
        )
        return [Scored(id=id_, score=-score) for score, id_ in ranked]

    def find(self, ids: Iterable[str]) -> dict[str, Vectors]:
        """Returns the vectors of the ids whose vectors here are certainly current; the store may have others."""
        found = {}
        for id_ in ids:
            place = self.places.get(id_, self.size)
            if place < self.size and self.ids[place] == id_ and (self.alive is None or self.alive[place]):
                found[id_] = self.matrix[place]
        return found

    def within(self, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """Returns for each vector all rows with a dot product of at least `threshold`, best first, ties by id."""
        found = []
        at_once = max(1, _CELLS // max(1, self.size))
        for start in range(0, len(vectors), at_once):
            block = vectors[start : start + at_once]
            near = block @ self.matrix[: self.size].T >= threshold - MARGIN
            if self.alive is not None:
                near &= self.alive
            found += [
                self._select_above(vector, np.flatnonzero(row), threshold)
                for vector, row in zip(block, near, strict=True)
            ]
        return found

    def _select_above(self, vector: Vectors, places: NDArray[np.intp], threshold: float) -> list[Scored]:
        exact = score_exactly(self.matrix[places], vector).tolist()
        pairs = sorted((-score, self.ids[i]) for score, i in zip(exact, places, strict=True) if score >= threshold)
        return [Scored(id=id_, score=-score) for score, id_ in pairs]

    def _select_places(self, documents: Collection[str] | None) -> NDArray[np.intp] | None:
        """Returns the places of the rows that may be results; None: all of the first `size`."""
        if documents is None:
            return None if self.alive is None else np.flatnonzero(self.alive)
        wanted = np.zeros(len(self.documents) + 1, dtype=np.bool_)
        wanted[[number for number in self._find_numbers(documents) if 0 <= number < len(wanted)]] = True
        mask = wanted[self.owners[: self.size]]
        return np.flatnonzero(mask if self.alive is None else mask & self.alive)

    def _find_numbers(self, documents: Collection[str]) -> Iterable[int]:
        """Returns the numbers of these documents, and perhaps -1. A large set is asked for each document instead."""
        if isinstance(documents, frozenset) and len(documents) > len(self.documents):
            own = list(self.documents.items())  # at once: a later snapshot may add to it meanwhile
            return (number for document, number in own if document in documents)
        return (self.documents.get(document, -1) for document in documents)

    def _grow(self, capacity: int) -> "VectorSnapshot":
        room = VectorSnapshot.empty(self.matrix.shape[1], capacity)
        room.matrix[: self.size] = self.matrix[: self.size]
        room.rows[: self.size] = self.rows[: self.size]
        room.owners[: self.size] = self.owners[: self.size]
        return replace(self, matrix=room.matrix, rows=room.rows, owners=room.owners)


def _compact(snapshot: VectorSnapshot, alive: NDArray[np.bool_]) -> VectorSnapshot:
    """Copies the rows that are alive, and numbers their documents anew, without documents that have no rows."""
    places = np.flatnonzero(alive)
    ids = [snapshot.ids[i] for i in places]
    names = list(snapshot.documents)  # in the order of their numbers
    kept, owners = np.unique(snapshot.owners[places], return_inverse=True)
    return replace(
        snapshot,
        matrix=snapshot.matrix[places],
        rows=snapshot.rows[places],
        owners=owners.astype(np.int32),
        documents={names[number]: i for i, number in enumerate(kept.tolist())},
        ids=ids,
        places={id_: place for place, id_ in enumerate(ids)},
        size=places.size,
        alive=None,
    )


def score_exactly(rows: Vectors, vector: Vectors) -> Vectors:
    """Returns exact scores: with BLAS, equal vectors may differ in score, as its order depends on the row."""
    exact: NDArray[np.float64] = np.einsum("ij,j->i", rows, vector, dtype=np.float64)
    return exact.astype(np.float32)


def select_leading(scores: Vectors, k: int) -> NDArray[np.intp]:
    """Returns the places of the `k` highest scores and of all within the margin of the lowest of these."""
    if k >= scores.size:
        return np.arange(scores.size)
    last = np.partition(scores, scores.size - k)[scores.size - k]
    return np.flatnonzero(scores >= last - MARGIN * max(1.0, abs(float(last))))

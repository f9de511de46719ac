"""A snapshot over a base: the rows of the file, which of them were deleted, and what was written since."""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.exact_search import VectorSnapshot
from stores.sqlite.vectors.mapped.base import Alive, VectorBase

__all__ = ["MappedSnapshot"]


@dataclass(frozen=True, kw_only=True)
class MappedSnapshot:
    """The vectors of one collection at one moment. Later snapshots share its arrays, as those of `VectorSnapshot` do.

    `own` has the rows beyond the base, in the memory of this process.
    """

    base: VectorBase
    alive: Alive
    own: VectorSnapshot

    @classmethod
    def over(cls, base: VectorBase) -> "MappedSnapshot":
        return cls(base=base, alive=None, own=VectorSnapshot.empty(base.header.dimension))

    @property
    def last_place(self) -> int:
        """The number in the store beyond which there are rows that the snapshot may lack."""
        return max(self.base.header.last_place, self.own.last_place)

    def extended(
        self, rows: Sequence[int], ids: Sequence[str], documents: Sequence[str], vectors: Vectors
    ) -> "MappedSnapshot":
        """Returns a snapshot with these rows added. `rows` ascend and are greater than all existing ones."""
        return replace(self, own=self.own.extended(rows, ids, documents, vectors))

    def without(self, rows: NDArray[np.int64]) -> "MappedSnapshot":
        """Returns a snapshot without these rows, which may be unknown."""
        gone = self.base.find_rows(rows)
        alive = self.alive
        if gone.size:
            alive = np.ones(len(self.base), dtype=np.bool_) if alive is None else alive.copy()
            alive[gone] = False
        return replace(self, alive=alive, own=self.own.without(rows))

    def search(self, query: Vectors, k: int, documents: Collection[str] | None) -> list[Scored]:
        """Returns the `k` best by dot product, ties by id, of all documents or of these.

        Raises `DamagedRows`.
        """
        found = self.base.search(query, k, documents, self.alive)
        if self.own.size:
            found = heapq.nsmallest(k, found + self.own.search(query, k, documents), key=_order)
        return found

    def find(self, ids: Iterable[str]) -> dict[str, Vectors]:
        """Returns the vectors of those ids that are certainly the present ones here; others may be in the store."""
        return self.own.find(ids)

    def within(self, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """Returns for each vector all rows with a dot product of at least `threshold`, best first, ties by id.

        Raises `DamagedRows`.
        """
        older = self.base.within(vectors, threshold, self.alive)
        newer = self.own.within(vectors, threshold)
        return [sorted(old + new, key=_order) for old, new in zip(older, newer, strict=True)]


def _order(scored: Scored) -> tuple[float, str]:
    return -scored.score, scored.id

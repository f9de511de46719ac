"""How many of the nearest vectors the first pass finds, measured on vectors of the collection itself."""

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from stores.sqlite.vectors.mapped.base import Alive, VectorBase
from stores.sqlite.vectors.mapped.signs import BLOCK
from stores.sqlite.vectors.mapped.snapshot import MappedSnapshot

__all__ = ["measure_recall"]

_QUERIES = 50
_NEAREST = 10


def measure_recall(snapshot: MappedSnapshot) -> float:
    """Returns the share of the ten nearest rows that searches find, for rows that are spread evenly over the base.

    A row is not counted among its own nearest. Reads all rows once, and raises `DamagedRows` if one is damaged.
    """
    base = snapshot.base
    rows = np.arange(len(base)) if snapshot.alive is None else np.flatnonzero(snapshot.alive)
    queried = rows[:: max(1, -(-rows.size // _QUERIES))]
    queries = base.read_rows(queried)
    found = wanted = 0
    for row, query, nearest in zip(queried, queries, _find_nearest(base, snapshot.alive, queries), strict=True):
        expected = set(base.read_ids(nearest[nearest != row][:_NEAREST]))
        hits = base.search(query, _NEAREST + 1, None, snapshot.alive)
        found += len(expected.intersection(hit.id for hit in hits))
        wanted += len(expected)
    return found / wanted if wanted else 1.0


def _find_nearest(base: VectorBase, alive: Alive, queries: Vectors) -> list[NDArray[np.intp]]:
    """Returns the nearest rows of each query, the best first."""
    best = np.empty((len(queries), 0), dtype=np.float32)
    places = np.empty((len(queries), 0), dtype=np.intp)
    for start in range(0, len(base), BLOCK):
        block = np.arange(start, min(start + BLOCK, len(base)))
        vectors = base.read_rows(block)
        block, vectors = (block, vectors) if alive is None else (block[alive[block]], vectors[alive[block]])
        best = np.concatenate([best, queries @ vectors.T], axis=1)
        places = np.concatenate([places, np.broadcast_to(block, (len(queries), block.size))], axis=1)
        order = np.argsort(-best, axis=1)[:, : _NEAREST + 1]
        best, places = np.take_along_axis(best, order, axis=1), np.take_along_axis(places, order, axis=1)
    return list(places)

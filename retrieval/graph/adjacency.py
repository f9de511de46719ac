"""The weighted, undirected graph of passages and entities in compressed sparse rows. PageRank and paths run on it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adjacency", "build_adjacency"]


@dataclass(frozen=True, kw_only=True)
class Adjacency:
    """A graph in compressed sparse rows.

    The neighbours of node i are `indices[indptr[i]:indptr[i+1]]`, ascending; `weights` has the edges' weights at the
    same places. `degree` (n,) is the sum of a node's weights. Each edge is in the rows of both of its nodes. There are
    no loops.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    degree: NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.degree)

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        row = slice(self.indptr[node], self.indptr[node + 1])
        return self.indices[row], self.weights[row]


def build_adjacency(
    size: int, first: NDArray[np.int64], second: NDArray[np.int64], weights: NDArray[np.float32]
) -> Adjacency:
    """Returns the graph of `size` nodes with the edges `first[i]`–`second[i]` of `weights[i]`.

    Edges may come in any order and direction. The weights of parallel edges add up. Loops and edges without a positive
    weight are left out.
    """
    counts = (first != second) & (weights > 0)
    first, second, weights = first[counts], second[counts], weights[counts]
    keys = np.minimum(first, second) * size + np.maximum(first, second)
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    if len(keys):
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        keys, weights = keys[starts], np.add.reduceat(weights.astype(np.float64), starts).astype(np.float32)
    low, high = np.divmod(keys, max(size, 1))
    # The edges are sorted by (low, high). A stable sort by row keeps columns ascending if smaller columns come first.
    rows, columns = np.concatenate([high, low]), np.concatenate([low, high]).astype(np.int32)
    weights = np.concatenate([weights, weights])
    order = np.argsort(rows, kind="stable")
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=indptr[1:])
    return Adjacency(
        indptr=indptr,
        indices=columns[order],
        weights=weights[order],
        degree=np.bincount(rows, weights=weights, minlength=size).astype(np.float64),
    )

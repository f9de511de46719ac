"""The edges of a graph that changes have taken away and added, without copying the rows that they belong to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.adjacency import Adjacency, RowChanges, spread_ranges
from retrieval.graph.chunk_terms import make_offsets

__all__ = ["EdgeChanges", "find_edges"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EdgeChanges:
    """Edges as (node, node), each once: those `lost`, which the graph has, and those `gained` with their `weights`."""

    lost: Numbers
    gained: Numbers
    weights: NDArray[np.float32]

    def lay_over(self, graph: Adjacency, size: int) -> Adjacency:
        """Returns the graph of `size` nodes with these changes, which shares all of its edges with `graph`."""
        lost_from = np.concatenate([self.lost[:, 0], self.lost[:, 1]])
        lost = find_edges(graph, lost_from, np.concatenate([self.lost[:, 1], self.lost[:, 0]]))
        order = np.argsort(lost, kind="stable")
        lost_from, lost = lost_from[order], lost[order]
        gained_from = np.concatenate([self.gained[:, 0], self.gained[:, 1]])
        gained_to = np.concatenate([self.gained[:, 1], self.gained[:, 0]])
        weights = np.concatenate([self.weights, self.weights])
        order = np.lexsort((gained_to, gained_from))
        gained_from, gained_to, weights = gained_from[order], gained_to[order], weights[order]
        nodes = np.unique(np.concatenate([lost_from, gained_from]))
        place_of = np.zeros(size, np.int32)
        place_of[nodes] = np.arange(1, len(nodes) + 1)
        by_loss, by_gain = place_of[lost_from] - 1, place_of[gained_from] - 1
        degree = np.zeros(size)
        degree[: graph.size] = graph.degree
        degree[nodes] -= np.bincount(by_loss, graph.weights[lost], len(nodes))
        degree[nodes] += np.bincount(by_gain, weights, len(nodes))
        changes = RowChanges(
            nodes=nodes,
            lost_at=make_offsets(np.bincount(by_loss, minlength=len(nodes))),
            lost=lost,
            gained_at=make_offsets(np.bincount(by_gain, minlength=len(nodes))),
            indices=gained_to.astype(np.int32),
            weights=weights,
            place_of=place_of,
        )
        return Adjacency(
            indptr=graph.indptr, indices=graph.indices, weights=graph.weights, degree=degree, changes=changes
        )


def find_edges(graph: Adjacency, nodes: Numbers, others: Numbers) -> Numbers:
    """Returns the places of the edges from `nodes` to `others` in a graph without changes, -1 where there is none.

    All rows are halved at the same time.
    """
    inside = (nodes < len(graph.indptr) - 1) & (others < len(graph.indptr) - 1)
    held = np.where(inside, nodes, 0)
    low = graph.indptr[held] if len(graph.indptr) > 1 else np.zeros(len(nodes), np.int64)
    end = np.where(inside, graph.indptr[held + 1], low) if len(graph.indptr) > 1 else low
    high = end.copy()
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) // 2
        is_less = graph.indices[middle] < others[open_]
        low[open_[is_less]] = middle[is_less] + 1
        high[open_[~is_less]] = middle[~is_less]
    found = np.full(len(nodes), -1, np.int64)
    there = np.flatnonzero(low < end)
    same = there[graph.indices[low[there]] == others[there]]
    found[same] = low[same]
    return found


def list_edges(graph: Adjacency, nodes: Numbers) -> tuple[Numbers, Numbers]:
    """Returns the edges of some nodes of a graph without changes: the index into `nodes`, and the neighbour."""
    owner, at = spread_ranges(graph.indptr[nodes], graph.indptr[nodes + 1])
    return owner, graph.indices[at].astype(np.int64)

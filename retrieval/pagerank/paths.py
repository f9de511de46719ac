"""The most probable path from a question's entities to a chunk, which explains a hit of PageRank."""

import heapq
from collections.abc import Mapping

import numpy as np

from retrieval.graph.adjacency import Adjacency

__all__ = ["find_strongest_path"]

_MAX_EDGES = 5
_MAX_NODES = 2_000
_MAX_FAN = 200


def find_strongest_path(graph: Adjacency, seeds: Mapping[int, float], target: int, *, inner: int = 0) -> list[int]:
    """Returns the nodes from a seed to `target`, both included; empty if no path of at most five edges is found.

    All nodes of the path but `target` are at least `inner`.

    A random walk leaves a node along an edge with probability weight / degree, and the path is the most probable one,
    so that heavy edges and rare entities are preferred. The search runs backwards from the target, since targets have
    few neighbours and seeds may have many; a step back to `node` costs -log(weight / degree(node)). It visits at most
    2,000 nodes.
    """
    heap: list[tuple[float, bool, int, int]] = [(0.0, False, target, 0)]
    best: dict[int, float] = {target: 0.0}
    onward: dict[int, int] = {}
    for _ in range(_MAX_NODES):
        if not heap:
            break
        cost, arrived, node, edges = heapq.heappop(heap)
        if arrived:
            return _unroll(onward, node, target)
        if cost > best[node]:
            continue
        if node in seeds and node != target:
            heapq.heappush(heap, (cost - float(np.log(seeds[node])), True, node, edges))
        if edges == _MAX_EDGES:
            continue
        for other, total in _steps_back(graph, node, cost, seeds):
            if other >= inner and total < best.get(other, np.inf):
                best[other], onward[other] = total, node
                heapq.heappush(heap, (total, False, other, edges + 1))
    return []


def _steps_back(graph: Adjacency, node: int, cost: float, seeds: Mapping[int, float]) -> list[tuple[int, float]]:
    """Returns neighbours with their total costs; of a node with many neighbours only the cheapest and the seeds."""
    others, weights = graph.neighbours(node)
    totals = cost - np.log(weights / graph.degree[others])
    if len(others) > _MAX_FAN:
        cheapest = np.argpartition(totals, _MAX_FAN)[:_MAX_FAN]
        chosen = np.union1d(cheapest, np.flatnonzero(np.isin(others, list(seeds))))
        others, totals = others[chosen], totals[chosen]
    return list(zip(others.tolist(), totals.tolist(), strict=True))


def _unroll(onward: Mapping[int, int], node: int, target: int) -> list[int]:
    path = [node]
    while path[-1] != target:
        path.append(onward[path[-1]])
    return path

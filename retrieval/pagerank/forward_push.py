"""Personalized PageRank by forward push. Its cost does not depend on the size of the graph.

Once `warm` was called, a kernel that numba compiles does it; before, numpy does (`sweeps.py`), with the same bound.

After Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors" (FOCS 2006).
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.adjacency import Adjacency
from retrieval.jit import JitFunction
from retrieval.pagerank.sweeps import push_in_sweeps

__all__ = ["NodeMass", "forward_push", "warm"]

_IDLE_WORKSPACES = 4


@dataclass(frozen=True, kw_only=True)
class NodeMass:
    """PageRank mass by node: `nodes` with mass, ascending, and their `mass`, which sums to 1."""

    nodes: NDArray[np.int64]
    mass: NDArray[np.float64]


def forward_push(
    graph: Adjacency,
    seeds: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
) -> NodeMass:
    """Returns the PageRank of `graph` with restarts at `seeds`, each in proportion to its weight.

    The error of a node is at most `epsilon` times its weighted degree. Seeds of weight zero are ignored; without a seed
    there is no mass. The mass that reaches a node without edges returns to the seeds, as in igraph.
    """
    positive = weights > 0
    seeds, weights = seeds[positive], weights[positive]
    if not len(seeds):
        return NodeMass(nodes=np.zeros(0, np.int64), mass=np.zeros(0))
    seeds, weights = seeds.astype(np.int64), weights / weights.sum()
    if not _KERNEL.is_compiled:
        nodes, pushed, rest = push_in_sweeps(graph, seeds, weights, damping=damping, epsilon=epsilon)
    else:
        nodes, pushed, rest = _push(graph, seeds, weights, damping, epsilon)
    # A node keeps 1 - damping of its rest: adding that halves the error at no cost.
    mass = pushed + (1 - damping) * rest
    return NodeMass(nodes=nodes, mass=mass / mass.sum())


def _push(
    graph: Adjacency, seeds: NDArray[np.int64], weights: NDArray[np.float64], damping: float, epsilon: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Returns what `push_in_sweeps` returns, by the compiled kernel."""
    kernel, pool = _KERNEL(), _POOL
    space = pool.take(graph.size)
    count = kernel(
        graph.indptr, graph.indices, graph.weights, graph.degree,
        seeds, weights, damping, epsilon,
        space.mass, space.rest, space.queue, space.queued, space.touched,
    )  # fmt: skip
    nodes = np.sort(space.touched[:count].astype(np.int64))
    mass, rest = space.mass[nodes], space.rest[nodes]
    space.mass[nodes] = space.rest[nodes] = 0.0
    pool.give(space)
    return nodes, mass, rest


def warm() -> None:
    """Compiles the kernel now, or loads it from numba's cache: for processes that answer more than a few questions."""
    _KERNEL()


def _forward_push(  # noqa: PLR0913, PLR0917 - compiled: plain arrays are what the compiler takes
    indptr: Any, indices: Any, edge_weights: Any, degree: Any,
    seeds: Any, seed_weights: Any, damping: float, epsilon: float,
    mass: Any, rest: Any, queue: Any, queued: Any, touched: Any,
) -> int:  # fmt: skip
    """Fills `mass` and `rest`, which are all zero at first; returns the number of nodes that `touched` lists."""
    capacity = queue.shape[0]
    head = waiting = count = 0
    for i in range(seeds.shape[0]):
        node = seeds[i]
        if rest[node] == 0.0:
            touched[count] = node
            count += 1
        rest[node] += seed_weights[i]
        if not queued[node] and rest[node] > epsilon * degree[node]:
            queued[node] = True
            queue[(head + waiting) % capacity] = node
            waiting += 1
    while waiting:
        node = queue[head]
        head = (head + 1) % capacity
        waiting -= 1
        queued[node] = False
        share = rest[node]
        rest[node] = 0.0
        mass[node] += (1.0 - damping) * share
        if degree[node] == 0.0:
            continue
        spread = damping * share / degree[node]
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if rest[other] == 0.0 and mass[other] == 0.0:
                touched[count] = other
                count += 1
            rest[other] += spread * edge_weights[edge]
            if not queued[other] and rest[other] > epsilon * degree[other]:
                queued[other] = True
                queue[(head + waiting) % capacity] = other
                waiting += 1
    return count


def _signature(types: Any) -> Any:
    ints, floats = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
    int32s, float32s = types.Array(types.int32, 1, "C"), types.Array(types.float32, 1, "C")
    flags = types.Array(types.boolean, 1, "C")
    return types.int64(
        ints, int32s, float32s, floats, ints, floats, types.float64, types.float64,
        floats, floats, int32s, flags, int32s,
    )  # fmt: skip


_KERNEL = JitFunction(_forward_push, _signature)


class _Workspace:
    """Zeroed arrays for one push at a time; the user zeroes again what it has touched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.mass = np.zeros(size)
        self.rest = np.zeros(size)
        self.queue = np.empty(size, np.int32)
        self.queued = np.zeros(size, np.bool_)
        self.touched = np.empty(size, np.int32)


class _Pool:
    """Workspaces that wait for the next push; two threads never share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Workspace] = []

    def take(self, size: int) -> _Workspace:
        with self._lock:
            fitting = [space for space in self._idle if space.size >= size]
            if fitting:
                smallest = min(fitting, key=lambda space: space.size)
                self._idle.remove(smallest)
                return smallest
        return _Workspace(size)

    def give(self, space: _Workspace) -> None:
        with self._lock:
            self._idle.append(space)
            if len(self._idle) > _IDLE_WORKSPACES:
                self._idle.remove(min(self._idle, key=lambda one: one.size))


_POOL = _Pool()

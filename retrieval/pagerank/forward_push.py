"""Personalized PageRank by forward push. Its cost does not depend on the size of the graph.

The push of single nodes is compiled. Without the compiler, numpy pushes all nodes of a sweep at once.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.execution.jit import JitFunction
from retrieval.graph.adjacency import Adjacency, NodeBuckets, RowChanges
from retrieval.graph.arrays import Patched
from retrieval.interruption import Interrupted, check_interrupted, stop_flag


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """The nodes that a push has touched, ascending, with their mass and the rest that was not pushed.

    `complete` is false if the steps ended before.
    """

    nodes: NDArray[np.int64]
    mass: NDArray[np.float64]
    rest: NDArray[np.float64]
    complete: bool


def push_in_sweeps(
    graph: Adjacency,
    seeds: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
    hubs: int,
    max_steps: int,
) -> Pushed:
    """Pushes while the rest of a node is more than `epsilon` times its weighted degree. `weights` sum to 1.

    A node with more than `hubs` edges keeps what reaches it.

    Ends after the sweep in which the steps, each along one edge, have become `max_steps`. Raises `Interrupted` if the
    search is cancelled meanwhile.
    """
    mass, rest = np.zeros(graph.size), np.zeros(graph.size)
    touched = np.zeros(graph.size, np.bool_)
    np.add.at(rest, seeds, weights)
    reached = np.unique(seeds)
    steps = 0
    while len(reached) and steps < max_steps:
        check_interrupted()
        touched[reached] = True
        pushing = reached[rest[reached] > epsilon * graph.degree[reached]]
        shares = rest[pushing]
        rest[pushing] = 0.0
        edges = graph.count_edges(pushing)
        mass[pushing] += np.where(edges > hubs, 1.0, 1.0 - damping) * shares
        spreading = (graph.degree[pushing] > 0) & (edges <= hubs)
        steps += int(edges[spreading].sum()) + len(edges)
        reached = _spread(graph, pushing[spreading], damping * shares[spreading], rest)
    touched[reached] = True
    nodes = np.flatnonzero(touched)
    complete = not (rest[reached] > epsilon * graph.degree[reached]).any()
    return Pushed(nodes=nodes, mass=mass[nodes], rest=rest[nodes], complete=complete)


def _spread(
    graph: Adjacency, nodes: NDArray[np.int64], shares: NDArray[np.float64], rest: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Adds the shares of the nodes to the rest of their neighbours, by weight, and returns the neighbours."""
    owner, targets, weights = graph.rows(nodes)
    np.add.at(rest, targets, weights * (shares / graph.degree[nodes])[owner])
    return np.unique(targets).astype(np.int64)


MAX_STEPS = 500_000_000
"""The greatest number of steps, each along one edge: some seconds. The defaults take less than a million."""

_IDLE_WORKSPACES = 4
_STEPS_PER_CHECK = 1_000_000
_INTERRUPTED = -1
_SPARE_SHARE = 8
"""A workspace is greater by this part, so that it also fits the graph after changes that add nodes."""


@dataclass(frozen=True, kw_only=True)
class NodeMass:
    """PageRank mass by node: `nodes` with mass, ascending, and their `mass`, which sums to 1.

    `complete` is false if the steps ended before the error was as small as asked for.
    """

    nodes: NDArray[np.int64]
    mass: NDArray[np.float64]
    complete: bool = True


def forward_push(
    graph: Adjacency,
    seeds: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
    hubs: int | None = None,
    max_steps: int = MAX_STEPS,
) -> NodeMass:
    """Returns the PageRank of `graph` with restarts at `seeds`, each in proportion to its weight.

    The error of a node is at most `epsilon` times its weighted degree. Seeds of weight zero are ignored; without a seed
    there is no mass. The mass that reaches a node without edges returns to the seeds, as in igraph. That which reaches
    a node with more than `hubs` edges stays there (None: no node keeps it).

    Raises `Interrupted` if the search is cancelled meanwhile.
    """
    positive = weights > 0
    seeds, weights = seeds[positive], weights[positive]
    if not len(seeds):
        return NodeMass(nodes=np.zeros(0, np.int64), mass=np.zeros(0))
    seeds, weights = seeds.astype(np.int64), weights / weights.sum()
    push = _push if _KERNEL.is_compiled else push_in_sweeps
    most = graph.size if hubs is None else hubs
    pushed = push(graph, seeds, weights, damping=damping, epsilon=epsilon, hubs=most, max_steps=max_steps)
    # A node keeps 1 - damping of its rest: adding that halves the error at no cost.
    mass = pushed.mass + (1 - damping) * pushed.rest
    return NodeMass(nodes=pushed.nodes, mass=mass / mass.sum(), complete=pushed.complete)


def _push(
    graph: Adjacency,
    seeds: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
    hubs: int,
    max_steps: int,
) -> Pushed:
    """Returns what `push_in_sweeps` returns, by the compiled kernel."""
    kernel, pool = _KERNEL(), _POOL
    space = pool.take(graph.size)
    state = np.zeros(2, np.int64)
    changes = graph.changes or _NO_CHANGES
    degree, degrees = graph.degree, _NO_DEGREES
    if isinstance(graph.degree, Patched):
        degree, degrees = graph.degree.base, graph.degree.values
    kernel(
        graph.indptr, graph.indices, graph.weights, degree,
        changes.nodes, changes.buckets.starts, changes.buckets.shift, degrees,
        changes.lost_at, changes.lost, changes.gained_at, changes.indices, changes.weights,
        seeds, weights, graph.degree[seeds], damping, epsilon, hubs,
        space.mass, space.rest, space.queue, space.queued, space.touched,
        max_steps, stop_flag(), state,
    )  # fmt: skip
    count, waiting = state.tolist()
    nodes = np.sort(space.touched[:count].astype(np.int64))
    mass, rest = space.mass[nodes], space.rest[nodes]
    space.mass[nodes] = space.rest[nodes] = 0.0
    space.queued[nodes] = False
    pool.give(space)
    if waiting == _INTERRUPTED:
        raise Interrupted
    return Pushed(nodes=nodes, mass=mass, rest=rest, complete=not waiting)


def warm() -> None:
    """Compiles the kernel now, or loads it from numba's cache: for processes that answer more than a few questions."""
    _KERNEL()


def _forward_push(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - compiled: plain arrays are what the compiler takes
    indptr: Any, indices: Any, edge_weights: Any, degree: Any,
    nodes: Any, starts: Any, shift: int, degrees: Any,
    lost_at: Any, lost: Any, gained_at: Any, gained: Any, gained_weights: Any,
    seeds: Any, seed_weights: Any, seed_degrees: Any, damping: float, epsilon: float, hubs: int,
    mass: Any, rest: Any, queue: Any, queued: Any, touched: Any,
    max_steps: int, stop: Any, state: Any,
) -> None:  # fmt: skip
    """Fills `mass` and `rest`, which are all zero at first, and `state`: the number of nodes in `touched`, and the
    number of nodes that still wait in the queue, or -1 if `stop` was set. `nodes`, if any, are the nodes with changed
    edges; `degrees` are their degrees.
    """
    capacity, is_changed = queue.shape[0], nodes.shape[0] > 0
    head = waiting = count = 0
    steps, check = 0, _STEPS_PER_CHECK
    for i in range(seeds.shape[0]):
        node = seeds[i]
        if rest[node] == 0.0:
            touched[count] = node
            count += 1
        rest[node] += seed_weights[i]
        if not queued[node] and rest[node] > epsilon * seed_degrees[i]:
            queued[node] = True
            queue[(head + waiting) % capacity] = node
            waiting += 1
    while waiting and steps < max_steps:
        if steps >= check:
            check += _STEPS_PER_CHECK
            if stop[0]:
                waiting = _INTERRUPTED
                break
        node = queue[head]
        head = (head + 1) % capacity
        waiting -= 1
        queued[node] = False
        share = rest[node]
        rest[node] = 0.0
        first = end = loss = losses = gain = gains = 0
        total = 0.0
        if node < indptr.shape[0] - 1:
            first, end = indptr[node], indptr[node + 1]
            total = degree[node]
        if is_changed:
            place, high = starts[node >> shift], starts[(node >> shift) + 1]
            while place < high:
                middle = (place + high) >> 1
                if nodes[middle] < node:
                    place = middle + 1
                else:
                    high = middle
            if place < nodes.shape[0] and nodes[place] == node:
                total = degrees[place]
                loss, losses = lost_at[place], lost_at[place + 1]
                gain, gains = gained_at[place], gained_at[place + 1]
        edges = end - first + gains - gain
        if edges > hubs:
            mass[node] += share
            continue
        mass[node] += (1.0 - damping) * share
        if total == 0.0:
            continue
        spread = damping * share / total
        steps += 1 + edges
        for edge in range(first, end + gains - gain):
            if edge < end:
                if loss < losses and lost[loss] == edge:
                    loss += 1
                    continue
                other, weight = indices[edge], edge_weights[edge]
            else:
                other, weight = gained[gain + edge - end], gained_weights[gain + edge - end]
            if rest[other] == 0.0 and mass[other] == 0.0:
                touched[count] = other
                count += 1
            rest[other] += spread * weight
            # A degree is at least the weight of each edge, so most nodes need no lookup of theirs.
            if queued[other] or rest[other] <= epsilon * weight:
                continue
            bound = degree[other] if other < degree.shape[0] else 0.0
            if is_changed:
                place, high = starts[other >> shift], starts[(other >> shift) + 1]
                while place < high:
                    middle = (place + high) >> 1
                    if nodes[middle] < other:
                        place = middle + 1
                    else:
                        high = middle
                if place < nodes.shape[0] and nodes[place] == other:
                    bound = degrees[place]
            if rest[other] > epsilon * bound:
                queued[other] = True
                queue[(head + waiting) % capacity] = other
                waiting += 1
    state[0], state[1] = count, waiting


def _signature(types: Any) -> Any:
    """The graph is not written to: it may be mapped from a file. The compiler takes other arrays for it, too."""
    ints, floats = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
    int32s, flags = types.Array(types.int32, 1, "C"), types.Array(types.boolean, 1, "C")
    graph = [
        types.Array(type, 1, "C", readonly=True) for type in (types.int64, types.int32, types.float32, types.float64)
    ]
    lost_and_gained = [
        types.Array(type, 1, "C", readonly=True)
        for type in (types.int64, types.int64, types.int64, types.int32, types.float32)
    ]
    found = [types.Array(types.int64, 1, "C", readonly=True), types.Array(types.int32, 1, "C", readonly=True)]
    degrees = types.Array(types.float64, 1, "C", readonly=True)
    return types.void(
        *graph, *found, types.int64, degrees, *lost_and_gained,
        ints, floats, floats, types.float64, types.float64, types.int64,
        floats, floats, int32s, flags, int32s,
        types.int64, types.Array(types.uint8, 1, "C"), ints,
    )  # fmt: skip


_NO_CHANGES = RowChanges(
    nodes=np.zeros(0, np.int64),
    lost_at=np.zeros(0, np.int64),
    lost=np.zeros(0, np.int64),
    gained_at=np.zeros(0, np.int64),
    indices=np.zeros(0, np.int32),
    weights=np.zeros(0, np.float32),
    buckets=NodeBuckets(starts=np.zeros(0, np.int32), shift=0),
)
_NO_DEGREES = np.zeros(0)

_KERNEL = JitFunction(_forward_push, _signature)


class _Workspace:
    """Zeroed arrays for one push at a time. After a push, its caller zeroes the touched places again."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.mass = np.zeros(size)
        self.rest = np.zeros(size)
        self.queue = np.empty(size, np.int32)
        self.queued = np.zeros(size, np.bool_)
        self.touched = np.empty(size, np.int32)


class _Pool:
    """Workspaces that wait for the next push. Threads never share a workspace."""

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
        return _Workspace(size + size // _SPARE_SHARE)

    def give(self, space: _Workspace) -> None:
        with self._lock:
            self._idle.append(space)
            if len(self._idle) > _IDLE_WORKSPACES:
                self._idle.remove(min(self._idle, key=lambda one: one.size))


_POOL = _Pool()

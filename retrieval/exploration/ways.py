"""The shortest ways between two entities, through facts, synonyms and the passages that mention both ends of a step."""

from collections.abc import Sequence

import numpy as np

from core.errors import InvalidInput
from core.execution.threads import compute
from retrieval.candidates.explanations import describe_paths
from retrieval.exploration.scope import Scope
from retrieval.exploration.values import Way, Ways
from retrieval.graph.adjacency import Adjacency

__all__ = ["MAX_EDGES", "find_ways"]

MAX_EDGES = 8
"""The longest way that is looked for: four passages, or eight facts."""

_MAX_NODES = 5_000
"""Nodes that are visited from each end at most. Beyond, nodes with many neighbours are left out."""


async def find_ways(scope: Scope, from_id: str, to_id: str, *, limit: int) -> Ways:
    """Returns at most `limit` ways between two entities, the shortest first; of equally long ways, the ways through
    rarer entities.

    Raises `NotFound` if no passage of the scope names one of the entities, and `InvalidInput` if they are the same or
    are merged into one.
    """
    if from_id == to_id:
        raise InvalidInput(f"both ends are the entity {from_id!r}; name two entities")
    chunks = scope.graph.chunks
    first, second = chunks + scope.number_of(from_id), chunks + scope.number_of(to_id)
    if first == second:
        raise InvalidInput(f"{from_id!r} and {to_id!r} are merged into one entity; name two entities")
    paths, complete = await compute(_find_paths, scope.graph.adjacency, first, second, limit)
    steps = await describe_paths(paths, scope.snapshot, scope.corpus.id, scope.documents, scope.backends)
    return Ways(ways=tuple(Way(steps=step) for step in steps), complete=complete)


def _find_paths(graph: Adjacency, first: int, second: int, limit: int) -> tuple[list[list[int]], bool]:
    """Returns the shortest paths, and whether the search saw every node that a path could use."""
    near, whole = _visit(graph, first, MAX_EDGES // 2)
    far, also_whole = _visit(graph, second, MAX_EDGES - MAX_EDGES // 2)
    complete = whole and also_whole
    if not near & far:
        return [], complete
    nodes = np.array(sorted(near | far), np.int64)
    return _find_shortest(graph, nodes, first, second, limit), complete


def _visit(graph: Adjacency, start: int, edges: int) -> tuple[set[int], bool]:
    """Returns at most `_MAX_NODES` nodes within so many edges, breadth first, and whether these are all.

    Within a layer, nodes with few neighbours come first; of the neighbours that there is no room for, so do those.
    """
    visited, layer, whole = {start}, [start], True
    for _ in range(edges):
        found: set[int] = set()
        counts = dict(zip(layer, graph.count_edges(np.array(layer, np.int64)).tolist(), strict=True))
        for node in sorted(layer, key=lambda node: (counts[node], node)):
            others, _ = graph.neighbours(node)
            room = _MAX_NODES - len(visited) - len(found)
            if len(others) > room:
                crowds = graph.count_edges(others.astype(np.int64))
                others, whole = others[np.argsort(crowds, kind="stable")[: max(room, 0)]], False
            found.update(others.tolist())
        layer = sorted(found - visited)
        visited |= found
    return visited, whole


def _find_shortest(
    graph: Adjacency, nodes: Sequence[int] | np.ndarray, first: int, second: int, limit: int
) -> list[list[int]]:
    """Returns the shortest paths over `nodes`. An edge costs 1, and a little more towards a node with many neighbours,
    so that the number of edges decides first.
    """
    import igraph  # takes a tenth of a second, and searches do not need it

    nodes = np.asarray(nodes, np.int64)
    place = {int(node): at for at, node in enumerate(nodes.tolist())}
    crowds = dict(zip(nodes.tolist(), graph.count_edges(nodes).tolist(), strict=True))
    kept = np.zeros(graph.size, np.bool_)
    kept[nodes] = True
    edges: list[tuple[int, int]] = []
    costs: list[float] = []
    for node in nodes.tolist():
        others, _ = graph.neighbours(node)
        for other in others[(others > node) & kept[others]].tolist():
            crowd = sum(float(crowds[end]) for end in (node, other))
            edges.append((place[node], place[other]))
            costs.append(1 + np.log1p(crowd) / (100 * MAX_EDGES))
    subgraph = igraph.Graph(n=len(nodes), edges=edges)
    found = subgraph.get_k_shortest_paths(place[first], place[second], k=limit, weights=costs, output="vpath")
    return [[int(nodes[at]) for at in path] for path in found if 1 < len(path) <= MAX_EDGES + 1]

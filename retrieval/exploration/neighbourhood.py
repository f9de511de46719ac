"""The subgraph near an entity, for drawing, and the shortest ways between two entities.

A way leads through facts, synonyms and the passages that mention both ends of a step.
"""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from core.errors import InvalidInput
from core.execution.graph_library import import_igraph
from core.execution.threads import compute
from core.graph_schema import GraphSchema
from core.ports.retrieval import NodeKind, PathStep
from retrieval.candidates.explanations import describe_paths, label_passages
from retrieval.exploration.values import (
    EdgeKind,
    EntityRef,
    Scope,
    Subgraph,
    SubgraphEdge,
    SubgraphNode,
    Way,
    Ways,
)
from retrieval.graph.adjacency import Adjacency

_MAX_FAN = 200


async def draw_neighbourhood(scope: Scope, entity_id: str, *, depth: int, limit: int) -> Subgraph:
    """Returns at most `limit` nodes that are at most `depth` edges from an entity, and all edges between them.

    Two entities that one passage mentions are two edges apart. A node is added by the most probable path that leads to
    it from the entity, where a random walk leaves a node along an edge with probability weight / degree; so the
    subgraph is connected. Raises `NotFound` if no passage of the scope names the entity.
    """
    graph = scope.graph
    start = graph.chunks + scope.number_of(entity_id)
    distances, truncated = await compute(_grow, graph.adjacency, start, depth, limit)
    edges = _edges_between(graph.adjacency, distances)
    steps = await describe_paths(
        [edge[:2] for edge in edges], scope.snapshot, scope.corpus.id, scope.documents, scope.backends, scope.schema
    )
    entities = await scope.refs_of(node - graph.chunks for node in distances if node >= graph.chunks)
    labels = await _label(scope, list(distances), entities)
    ids = {node: _id_of(scope, node) for node in distances}
    return Subgraph(
        nodes=tuple(
            _make_node(scope.schema, ids[node], labels[node], distance, entities.get(node - graph.chunks))
            for node, distance in distances.items()
        ),
        edges=tuple(
            _make_edge(ids, labels, (first, second), weight, step, mention=first < graph.chunks)
            for (first, second, weight), (step,) in zip(edges, steps, strict=True)
        ),
        truncated=truncated,
    )


def _make_node(schema: GraphSchema, id: str, label: str, distance: int, entity: EntityRef | None) -> SubgraphNode:
    """`entity` is None for a passage."""
    if entity is None:
        return SubgraphNode(id=id, kind=NodeKind.PASSAGE, label=label, distance=distance, passages=None)
    type = schema.types.get(entity.type or "")
    return SubgraphNode(
        id=id,
        kind=NodeKind.ENTITY,
        label=label,
        distance=distance,
        passages=entity.passages,
        type=entity.type,
        colour=type.colour if type and type.colour else None,
    )


def _grow(graph: Adjacency, start: int, depth: int, limit: int) -> tuple[dict[int, int], bool]:
    """Returns nodes with their distances, in the order in which they were added, and whether others were left out."""
    heap: list[tuple[float, int, int]] = [(0.0, start, 0)]
    distances: dict[int, int] = {}
    truncated = False
    while heap:
        cost, node, distance = heapq.heappop(heap)
        if node in distances:
            continue
        if len(distances) == limit:
            return distances, True
        distances[node] = distance
        if distance == depth:
            continue
        others, weights = graph.neighbours(node)
        if len(others) > _MAX_FAN:
            strongest = np.argsort(-weights / graph.degree[others], kind="stable")[:_MAX_FAN]
            others, weights, truncated = others[strongest], weights[strongest], True
        totals = cost - np.log(weights / graph.degree[node])
        for other, total in zip(others.tolist(), totals.tolist(), strict=True):
            if other not in distances:
                heapq.heappush(heap, (total, other, distance + 1))
    return distances, truncated


def _edges_between(graph: Adjacency, nodes: dict[int, int]) -> list[tuple[int, int, float]]:
    """Returns (smaller node, greater node, weight): passages have the smaller numbers."""
    kept = np.array(sorted(nodes), np.int64)
    edges: list[tuple[int, int, float]] = []
    for node in kept.tolist():
        others, weights = graph.neighbours(node)
        chosen = np.isin(others, kept) & (others > node)
        edges += [
            (node, other, weight)
            for other, weight in zip(others[chosen].tolist(), weights[chosen].tolist(), strict=True)
        ]
    return edges


def _make_edge(
    ids: Mapping[int, str],
    labels: Mapping[int, str],
    ends: tuple[int, int],
    weight: float,
    step: PathStep,
    *,
    mention: bool,
) -> SubgraphEdge:
    """Returns the edge between two nodes; the edge of a fact leads from its subject to its object."""
    kind = EdgeKind.MENTION if mention else EdgeKind.FACT if step.chunk_id else EdgeKind.SYNONYM
    first, second = ends
    if kind is EdgeKind.FACT and step.source != labels[first]:
        first, second = second, first
    return SubgraphEdge(
        source=ids[first],
        target=ids[second],
        kind=kind,
        label=step.relation if kind is EdgeKind.FACT else "",
        chunk_id=step.chunk_id,
        weight=weight,
    )


def _id_of(scope: Scope, node: int) -> str:
    chunks = scope.graph.chunks
    (id,) = scope.snapshot.chunk_ids([node]) if node < chunks else scope.snapshot.entity_ids([node - chunks])
    return id


async def _label(scope: Scope, nodes: Sequence[int], entities: Mapping[int, EntityRef]) -> dict[int, str]:
    chunks = scope.graph.chunks
    passages = [node for node in nodes if node < chunks]
    titles = await label_passages(passages, scope.snapshot, scope.corpus.id, scope.backends)
    return dict.fromkeys(passages, "") | titles | {number + chunks: ref.name for number, ref in entities.items()}


_MAX_EDGES = 8
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
    steps = await describe_paths(paths, scope.snapshot, scope.corpus.id, scope.documents, scope.backends, scope.schema)
    return Ways(ways=tuple(Way(steps=step) for step in steps), complete=complete)


def _find_paths(graph: Adjacency, first: int, second: int, limit: int) -> tuple[list[list[int]], bool]:
    """Returns the shortest paths, and whether the search saw every node that a path could use."""
    near, whole = _visit(graph, first, _MAX_EDGES // 2)
    far, also_whole = _visit(graph, second, _MAX_EDGES - _MAX_EDGES // 2)
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
    igraph = import_igraph("ways between entities")
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
            costs.append(1 + np.log1p(crowd) / (100 * _MAX_EDGES))
    subgraph = igraph.Graph(n=len(nodes), edges=edges)
    found = subgraph.get_k_shortest_paths(place[first], place[second], k=limit, weights=costs, output="vpath")
    return [[int(nodes[at]) for at in path] for path in found if 1 < len(path) <= _MAX_EDGES + 1]

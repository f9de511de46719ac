"""Linking of given names to entities, by vector or by name, for the searcher `fine`."""

from collections.abc import Iterable, Sequence

from core.ports.embedding import Vectors
from core.ports.retrieval import Query
from core.ports.views import VectorKind
from core.text.name_spans import find_names
from core.text.names import normalise
from retrieval.backends import RetrievalBackends
from retrieval.graph.names import NameIndex, fold_name
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.pagerank.name_linking import build_name_share, link_names

_NAMES = 64
"""Names of one question that are linked; each costs a search."""

_SPARE = 8
_FURTHEST = 1024
"""Nearest entities that are requested at most, until enough of them belong to the documents of the search."""


def find_question_names(text: str, snapshot: GraphSnapshot) -> list[str]:
    """Returns the names in a text as they are written: names of entities, and what else looks like a name."""
    known = link_names(text, snapshot.names, build_name_share(snapshot.statistics))
    spans = [(span.start, span.end) for span in known]
    spans += [
        (name.start, name.end)
        for name in find_names(text)
        if all(end <= name.start or name.end <= start for start, end in spans)
    ]
    return [text[start:end] for start, end in sorted(spans)]


def link_by_name(names: Iterable[str], snapshot: GraphSnapshot, graph: RetrievalGraph) -> dict[int, float]:
    """Returns entity → 1 for the entities that have one of the names; entities without an edge in `graph` are
    left out.
    """
    found = (entity for name in names for entity in _find_entities(name, snapshot.names))
    return {entity: 1.0 for entity in found if graph.has_edges(entity)}


async def link_by_vector(
    names: Sequence[str],
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    graph: RetrievalGraph,
    *,
    nearest: int,
    min_similarity: float,
) -> dict[int, float]:
    """Returns entity → cosine for the `nearest` entities of each name.

    A name is normalised before it is embedded, as the entities' names were; the first 64 names count. Entities without
    an edge in `graph` or with a cosine below `min_similarity` are left out.
    """
    wanted = list(dict.fromkeys(filter(None, map(normalise, names))))[:_NAMES]
    if not wanted:
        return {}
    linked: dict[int, float] = {}
    for vector in await backends.embedder.embed_passages(wanted):
        for entity, cosine in await _search_entities(vector, backends, query, snapshot, graph, nearest):
            if cosine >= min_similarity:
                linked[entity] = max(cosine, linked.get(entity, 0.0))
    return linked


async def _search_entities(
    vector: Vectors,
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    graph: RetrievalGraph,
    count: int,
) -> list[tuple[int, float]]:
    asked = count + _SPARE
    while True:
        scored = await backends.vectors.search(query.corpus.id, VectorKind.ENTITY, vector, asked)
        places = snapshot.entities_with([hit.id for hit in scored]).tolist()
        nearest: dict[int, float] = {}
        for entity, hit in zip(places, scored, strict=True):
            if entity >= 0 and graph.has_edges(entity):
                nearest.setdefault(entity, hit.score)
        there = list(nearest.items())
        if len(there) >= count or len(scored) < asked or asked >= _FURTHEST:
            return there[:count]
        asked *= 4


def _find_entities(name: str, index: NameIndex) -> list[int]:
    """Returns the entities with exactly this name, or else the entities that share its key."""
    key = fold_name(name)
    return index.find_exact(key, normalise(name)) or index.entities(key)

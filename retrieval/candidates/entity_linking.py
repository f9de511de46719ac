"""Names to entities of the graph: by the vectors of the fine store, or by name where there is none."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.retrieval import Query
from core.ports.views import VectorKind
from core.text.names import normalise
from core.text.surface import find_names
from retrieval.backends import RetrievalBackends
from retrieval.graph.columns import encode_ids
from retrieval.graph.name_index import NameIndex, fold_name
from retrieval.graph.positions import find_positions
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.name_linking import link_names
from retrieval.pagerank.truecase import build_name_share

__all__ = ["find_question_names", "link_by_name", "link_by_vector"]

_NAMES = 64
"""A longer list is no question but a text: each name costs a search."""

_SPARE = 8
_FURTHEST = 1024
"""So many of the nearest are looked at for those that the documents of the search mention."""


def find_question_names(text: str, snapshot: GraphSnapshot) -> list[str]:
    """The names in a text as they are written there: those of entities, and what else looks like one."""
    known = link_names(text, snapshot.names, build_name_share(snapshot.statistics))
    spans = [(one.start, one.end) for one in known]
    spans += [
        (name.start, name.end)
        for name in find_names(text)
        if all(end <= name.start or name.end <= start for start, end in spans)
    ]
    return [text[start:end] for start, end in sorted(spans)]


def link_by_name(names: Iterable[str], snapshot: GraphSnapshot, degree: NDArray[np.float64]) -> dict[int, float]:
    """Entity → 1 for those that bear one of the names; entities without an edge (`degree`) are left out."""
    found = (entity for name in names for entity in _bearers(name, snapshot.names))
    return {entity: 1.0 for entity in found if degree[entity] > 0}


async def link_by_vector(
    names: Sequence[str],
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    degree: NDArray[np.float64],
    *,
    nearest: int,
    min_similarity: float,
) -> dict[int, float]:
    """Entity → cosine of the name that it is nearest to, for the `nearest` entities of each name.

    A name is compared as the entities were embedded: normalised; the first 64 count. Entities without an edge
    (`degree`) are passed over.
    """
    wanted = list(dict.fromkeys(filter(None, map(normalise, names))))[:_NAMES]
    if not wanted:
        return {}
    linked: dict[int, float] = {}
    for vector in await backends.embedder.embed_passages(wanted):
        for entity, cosine in await _nearest(vector, backends, query, snapshot, degree, nearest):
            if cosine >= min_similarity:
                linked[entity] = max(cosine, linked.get(entity, 0.0))
    return linked


async def _nearest(
    vector: Vectors,
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    degree: NDArray[np.float64],
    count: int,
) -> list[tuple[int, float]]:
    asked = count + _SPARE
    while True:
        scored = await backends.vectors.search(query.corpus.id, VectorKind.ENTITY, vector, asked)
        places = find_positions(snapshot.columns.entity_ids, encode_ids([one.id for one in scored])).tolist()
        there = [
            (entity, one.score)
            for entity, one in zip(places, scored, strict=True)
            if entity >= 0 and degree[entity] > 0
        ]
        if len(there) >= count or len(scored) < asked or asked >= _FURTHEST:
            return there[:count]
        asked *= 4


def _bearers(name: str, index: NameIndex) -> list[int]:
    """Those whose name is exactly this one, else those that share its key."""
    sharing, exact = index.entities(fold_name(name)), normalise(name)
    return [entity for entity in sharing if index.names[entity] == exact] or sharing

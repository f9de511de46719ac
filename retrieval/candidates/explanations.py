"""Paths of hits through the graph, in names: why a chunk was found. Open it for `explain`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.execution.threads import compute
from core.ports.record import Contents, FactRow
from core.ports.retrieval import Hit, NodeKind, PathStep, Query
from retrieval.backends import RetrievalBackends
from retrieval.candidates.facts import read_display_names, read_facts_of
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.interruption import check_interrupted, run_interruptibly
from retrieval.pagerank.paths import find_strongest_path
from retrieval.pagerank.personalized import GraphRanking

__all__ = ["add_paths", "describe_paths", "fetch_display_names", "label_passages"]

_MAX_ASSERTIONS = 5
"""The greatest number of chunks that are read for a fact, to find a chunk that the record still has."""


@dataclass(frozen=True, kw_only=True)
class _Names:
    """Names of the nodes and edges of paths, from the record."""

    entities: Mapping[int, str]
    passages: Mapping[int, str]
    facts: Mapping[tuple[str, str], FactRow]
    """By subject and object id, and by object and subject id."""


async def add_paths(
    hits: Sequence[Hit], snapshot: GraphSnapshot, pagerank: GraphRanking, query: Query, backends: RetrievalBackends
) -> list[Hit]:
    """Returns the hits with their paths; a hit that the graph does not reach has an empty path."""
    graph = snapshot.graph(query.documents)
    seeds = {int(e) + graph.chunks: float(w) for e, w in zip(pagerank.entities, pagerank.weights, strict=True)}
    targets = snapshot.chunks_with([hit.chunk.id for hit in hits])
    inner = 0 if pagerank.over_passages else graph.chunks
    paths = await run_interruptibly(_find_paths, graph.adjacency, seeds, targets.tolist(), inner)
    described = await describe_paths(paths, snapshot, query.corpus.id, query.documents, backends)
    return [replace(hit, path=steps) for hit, steps in zip(hits, described, strict=True)]


def _find_paths(graph: Adjacency, seeds: Mapping[int, float], targets: Sequence[int], inner: int) -> list[list[int]]:
    paths = []
    for target in targets:
        check_interrupted()
        paths.append(find_strongest_path(graph, seeds, target, inner=inner))
    return paths


async def describe_paths(
    paths: Iterable[Sequence[int]],
    snapshot: GraphSnapshot,
    corpus_id: str,
    documents: frozenset[str] | None,
    backends: RetrievalBackends,
) -> list[tuple[PathStep, ...]]:
    """Returns the steps of each path of nodes in names. All facts are asserted by `documents` (None: by any
    document).
    """
    paths = list(paths)
    names = await _read_names(paths, snapshot, corpus_id, documents, backends)
    return [tuple(_make_step(a, b, snapshot, names) for a, b in pairwise(path)) for path in paths]


def _make_step(a: int, b: int, snapshot: GraphSnapshot, names: _Names) -> PathStep:
    chunks = snapshot.whole.chunks
    if a < chunks or b < chunks:
        (passage_id,) = snapshot.chunk_ids([min(a, b)])
        source, target = (
            names.passages.get(node, "") if node < chunks else names.entities[node - chunks] for node in (a, b)
        )
        source_kind, target_kind = (NodeKind.PASSAGE if node < chunks else NodeKind.ENTITY for node in (a, b))
        return PathStep(
            source=source,
            relation="mentions",
            target=target,
            chunk_id=passage_id,
            source_kind=source_kind,
            target_kind=target_kind,
        )
    first, second = snapshot.entity_ids([a - chunks, b - chunks])
    fact = names.facts.get((first, second))
    if fact is None:
        return PathStep(source=names.entities[a - chunks], relation="synonym", target=names.entities[b - chunks])
    return PathStep(source=fact.subject, relation=fact.predicate, target=fact.object, chunk_id=fact.chunk_id)


async def _read_names(
    paths: Iterable[Sequence[int]],
    snapshot: GraphSnapshot,
    corpus_id: str,
    documents: frozenset[str] | None,
    backends: RetrievalBackends,
) -> _Names:
    chunks = snapshot.whole.chunks
    nodes = {node for path in paths for node in path}
    edges = {(a - chunks, b - chunks) for path in paths for a, b in pairwise(path) if min(a, b) >= chunks}
    return _Names(
        entities=await fetch_display_names(
            sorted(n - chunks for n in nodes if n >= chunks), snapshot, corpus_id, backends.contents
        ),
        passages=await label_passages(sorted(n for n in nodes if n < chunks), snapshot, corpus_id, backends),
        facts=await _read_facts(edges, snapshot, corpus_id, documents, backends),
    )


async def fetch_display_names(
    entities: Sequence[int], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[int, str]:
    """Returns the display names of entities, or the normalised name where the record has deleted the entity."""
    ids = snapshot.entity_ids(entities)
    shown = await read_display_names(ids, snapshot, corpus_id, contents)
    return {entity: shown.get(id) or snapshot.name_of(entity) for entity, id in zip(entities, ids, strict=True)}


async def label_passages(
    passages: Sequence[int], snapshot: GraphSnapshot, corpus_id: str, backends: RetrievalBackends
) -> dict[int, str]:
    """Returns the title (else the key) of the document of each passage, and the passage's heading if it has another.

    Passages of documents that the record no longer has are left out.
    """
    documents = snapshot.document_ids(passages)
    ids = snapshot.chunk_ids(passages)
    refs = await backends.documents.get_refs(corpus_id, set(documents))
    chunks = await backends.contents.get_chunks(corpus_id, ids) if ids else {}
    headings = [chunks[id].heading if id in chunks else "" for id in ids]
    return {
        passage: _label(refs[document], heading)
        for passage, document, heading in zip(passages, documents, headings, strict=True)
        if document in refs
    }


def _label(document: DocumentRef, heading: str) -> str:
    title = document.title or document.key
    return f"{title} › {heading}" if heading and heading != title else title


async def _read_facts(
    edges: Collection[tuple[int, int]],
    snapshot: GraphSnapshot,
    corpus_id: str,
    documents: frozenset[str] | None,
    backends: RetrievalBackends,
) -> dict[tuple[str, str], FactRow]:
    wanted = await compute(_find_asserting, edges, snapshot, documents)
    chunk_ids = snapshot.chunk_ids(wanted)
    rows = await read_facts_of(chunk_ids, snapshot, corpus_id, backends.contents) if wanted else []
    found: dict[tuple[str, str], FactRow] = {}
    for row in rows:
        found.setdefault((row.subject_id, row.object_id), row)
    for (subject, object_), row in list(found.items()):
        found.setdefault((object_, subject), row)
    return found


def _find_asserting(
    edges: Collection[tuple[int, int]], snapshot: GraphSnapshot, documents: frozenset[str] | None
) -> list[int]:
    """Returns chunks, of the requested documents, that assert facts between the ends of these edges, ascending.

    There are at most five for each edge.
    """
    pairs = np.array(list(edges), np.int64).reshape(-1, 2)
    entities = snapshot.whole.adjacency.size - snapshot.whole.chunks
    ends = np.unique(pairs)
    near = snapshot.facts_about(ends).astype(np.int64)
    near = near[np.isin(near[:, 1:], ends).all(axis=1)]
    keys = _number_pairs(near[:, 1:], entities)
    asserted = np.isin(keys, _number_pairs(pairs, entities))
    rows = np.unique(np.stack([keys[asserted], near[asserted, 0]], axis=1), axis=0)
    if documents is not None:
        chunks, places = np.unique(rows[:, 1], return_inverse=True)
        may_read = np.array(
            [document_id in documents for document_id in snapshot.document_ids(chunks.tolist())], np.bool_
        )
        rows = rows[may_read[places]]
    _, first, counts = np.unique(rows[:, 0], return_index=True, return_counts=True)
    ranks = np.arange(len(rows)) - np.repeat(first, counts)
    chosen: list[int] = np.unique(rows[ranks < _MAX_ASSERTIONS, 1]).tolist()
    return chosen


def _number_pairs(pairs: NDArray[np.int64], entities: int) -> NDArray[np.int64]:
    """Returns one number for each pair of entities, whichever comes first."""
    smaller: NDArray[np.int64] = np.minimum(pairs[:, 0], pairs[:, 1])
    return smaller * entities + np.maximum(pairs[:, 0], pairs[:, 1])

"""Why a chunk was found: the facts that go with a hit, and the paths to it through the graph, in names.

Facts are shown if a hit asserts them and PageRank reached their entities, also several hops from its start.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.execution.threads import compute
from core.graph_schema import NO_SCHEMA, GraphSchema
from core.ports.record import Contents, FactRow, TripleRow
from core.ports.retrieval import Fact, Hit, NodeKind, PathStep, Query
from retrieval.backends import RetrievalBackends
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.arrays import Ints, find_positions
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.interruption import check_interrupted, run_interruptibly
from retrieval.pagerank.personalized import GraphRanking, find_strongest_path

Row = TypeVar("Row", FactRow, TripleRow)


async def _read_display_names(
    entity_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[str, str]:
    """Returns the display names of entities by id.

    An entity that no passage mentions by its own name has the name of the first entity that is merged into it. Without
    any, it is left out.
    """
    shown = await contents.get_entities(corpus_id, entity_ids)
    names = {id: entity.display for id, entity in shown.items()}
    members = {id: snapshot.merges.members_of(id) for id in entity_ids if id not in names} if snapshot.merges else {}
    if any(members.values()):
        others = await contents.get_entities(corpus_id, [id for ids in members.values() for id in ids])
        for id, ids in members.items():
            if present := [id for id in ids if id in others]:
                names[id] = others[present[0]].display
    return names


async def read_facts_of(
    chunk_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> list[FactRow]:
    """Returns the facts that these chunks assert, as `Contents.get_facts_of` does."""
    return await _resolve(await contents.get_facts_of(corpus_id, chunk_ids), snapshot, corpus_id, contents)


async def read_triples(
    triple_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[str, TripleRow]:
    """Returns triples by id, as `Contents.get_triples` does. The ids are the ids without merges."""
    found = await contents.get_triples(corpus_id, triple_ids)
    rows = await _resolve(list(found.values()), snapshot, corpus_id, contents)
    return dict(zip(found, rows, strict=True))


async def _resolve(rows: Sequence[Row], snapshot: GraphSnapshot, corpus_id: str, contents: Contents) -> list[Row]:
    ends = snapshot.merges.ends
    wanted = {ends[id] for row in rows for id in (row.subject_id, row.object_id) if id in ends}
    if not wanted:
        return list(rows)
    names = await _read_display_names(sorted(wanted), snapshot, corpus_id, contents)

    def resolve(row: Row) -> Row:
        subject, object_ = ends.get(row.subject_id), ends.get(row.object_id)
        if subject is not None:
            row = replace(row, subject_id=subject, subject=names.get(subject, row.subject))
        if object_ is not None:
            row = replace(row, object_id=object_, object=names.get(object_, row.object))
        return row

    return [resolve(row) for row in rows]


async def read_facts(
    hits: Sequence[Hit],
    pagerank: GraphRanking,
    snapshot: GraphSnapshot,
    query: Query,
    backends: RetrievalBackends,
    limit: int,
) -> tuple[Fact, ...]:
    """Returns at most `limit` facts that the hits assert and PageRank reached.

    The mass of a fact is the smaller mass of its two entities. The first fact of each hit comes first, then the second
    fact of each hit, facts with more mass first: on the questions of MuSiQue, this finds the facts of later hops more
    often than the order by mass alone, in which the facts of a seed leave no place for others. Equal facts are returned
    once, with the best hit. Nothing is read if the query does not ask for facts, or the corpus has no facts.
    """
    if not (query.facts and limit and snapshot.has_facts):
        return ()
    chunk_ids = [hit.chunk.id for hit in hits]
    mass = _find_masses(_find_assertions(chunk_ids, snapshot), pagerank, snapshot)
    if not mass:
        return ()
    asserting = sorted({chunk for chunk, _, _ in mass})
    rows = await read_facts_of(asserting, snapshot, query.corpus.id, backends.contents)
    place = {id: place for place, id in enumerate(chunk_ids)}
    ranked = [(mass[key], place[row.chunk_id], row) for row in rows if (key := _key(row)) in mass]
    ranked.sort(key=lambda entry: (-entry[0], entry[1], entry[2].id))
    return _take_turns([row for _, _, row in ranked])[:limit]


def _find_assertions(chunk_ids: Sequence[str], snapshot: GraphSnapshot) -> Ints:
    """Returns the assertions of these chunks that the snapshot has."""
    chunks = snapshot.chunks_with(chunk_ids)
    return snapshot.facts_of(chunks[chunks >= 0])


def _find_masses(
    assertions: Ints, pagerank: GraphRanking, snapshot: GraphSnapshot
) -> dict[tuple[str, str, str], float]:
    """Returns the masses of assertions by the ids of chunk, subject and object; assertions without mass are left
    out.
    """
    at = find_positions(pagerank.reached, assertions[:, 1:].ravel()).reshape(-1, 2)
    mass = np.append(pagerank.reached_mass, 0.0)[at].min(axis=1)  # -1, an entity without mass, is the last place
    assertions, mass = assertions[mass > 0], mass[mass > 0]
    chunks, subjects, objects = assertions.T.tolist()
    ids = zip(snapshot.chunk_ids(chunks), snapshot.entity_ids(subjects), snapshot.entity_ids(objects), strict=True)
    return dict(zip(ids, mass.tolist(), strict=True))


def _key(row: FactRow) -> tuple[str, str, str]:
    return row.chunk_id, row.subject_id, row.object_id


def _take_turns(ranked: Sequence[FactRow]) -> tuple[Fact, ...]:
    """Returns the first fact of each chunk, then the second of each, and so on; each fact once."""
    first: dict[tuple[str, str, str], FactRow] = {}
    for row in ranked:
        first.setdefault((row.subject_id, row.predicate, row.object_id), row)
    taken = Counter[str]()
    turns: list[tuple[int, FactRow]] = []
    for row in first.values():
        turns.append((taken[row.chunk_id], row))
        taken[row.chunk_id] += 1
    turns.sort(key=lambda turn: turn[0])
    return tuple(Fact(row.subject, row.predicate, row.object, row.chunk_id) for _, row in turns)


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
    schema: GraphSchema = NO_SCHEMA,
) -> list[tuple[PathStep, ...]]:
    """Returns the steps of each path of nodes in names. All facts are asserted by `documents` (None: by any
    document). Facts that state a relation of the schema come before others, and have its name.
    """
    paths = list(paths)
    names = await _read_names(paths, snapshot, corpus_id, documents, backends, schema)
    return [tuple(_make_step(a, b, snapshot, names, schema) for a, b in pairwise(path)) for path in paths]


def _make_step(a: int, b: int, snapshot: GraphSnapshot, names: _Names, schema: GraphSchema) -> PathStep:
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
    relation, is_inverse = schema.name_fact(fact.predicate)
    source, target = (fact.object, fact.subject) if is_inverse else (fact.subject, fact.object)
    return PathStep(source=source, relation=relation, target=target, chunk_id=fact.chunk_id)


async def _read_names(
    paths: Iterable[Sequence[int]],
    snapshot: GraphSnapshot,
    corpus_id: str,
    documents: frozenset[str] | None,
    backends: RetrievalBackends,
    schema: GraphSchema,
) -> _Names:
    chunks = snapshot.whole.chunks
    nodes = {node for path in paths for node in path}
    edges = {(a - chunks, b - chunks) for path in paths for a, b in pairwise(path) if min(a, b) >= chunks}
    return _Names(
        entities=await fetch_display_names(
            sorted(n - chunks for n in nodes if n >= chunks), snapshot, corpus_id, backends.contents
        ),
        passages=await label_passages(sorted(n for n in nodes if n < chunks), snapshot, corpus_id, backends),
        facts=await _read_facts(edges, snapshot, corpus_id, documents, backends, schema),
    )


async def fetch_display_names(
    entities: Sequence[int], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[int, str]:
    """Returns the display names of entities, or the normalised name where the record has deleted the entity."""
    ids = snapshot.entity_ids(entities)
    shown = await _read_display_names(ids, snapshot, corpus_id, contents)
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
    schema: GraphSchema,
) -> dict[tuple[str, str], FactRow]:
    wanted = await compute(_find_asserting, edges, snapshot, documents)
    chunk_ids = snapshot.chunk_ids(wanted)
    rows = await read_facts_of(chunk_ids, snapshot, corpus_id, backends.contents) if wanted else []
    found: dict[tuple[str, str], FactRow] = {}
    for row in sorted(rows, key=lambda row: schema.find_relation(row.predicate) is None):
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

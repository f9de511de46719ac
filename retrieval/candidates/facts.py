"""The facts that go with hits: facts that PageRank reached, also several hops from where it started.

First come rows of the record with the entities that they are about after merges, as a snapshot has them.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from core.ports.record import Contents, FactRow, TripleRow
from core.ports.retrieval import Fact, Hit, Query
from retrieval.backends import RetrievalBackends
from retrieval.graph.arrays import Ints, find_positions
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import GraphRanking

__all__ = ["read_display_names", "read_facts", "read_facts_of", "read_triples"]

Row = TypeVar("Row", FactRow, TripleRow)


async def read_display_names(
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
    names = await read_display_names(sorted(wanted), snapshot, corpus_id, contents)

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

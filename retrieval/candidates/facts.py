"""The facts that go with hits: those that PageRank reached, also several hops from where it started."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from core.ports.record import FactRow
from core.ports.retrieval import Fact, Hit, Query
from retrieval.backends import RetrievalBackends
from retrieval.candidates.merged_rows import read_facts_of
from retrieval.graph.arrays import Ints, find_positions
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import GraphRanking

__all__ = ["read_facts"]


async def read_facts(
    hits: Sequence[Hit],
    pagerank: GraphRanking,
    snapshot: GraphSnapshot,
    query: Query,
    backends: RetrievalBackends,
    limit: int,
) -> tuple[Fact, ...]:
    """Returns at most `limit` facts that the hits assert and PageRank reached.

    The mass of a fact is that of its entity with less of it. The first fact of each hit comes first, then the second of
    each, those with more mass before the others: on the questions of MuSiQue, this finds the facts of later hops more
    often than the order by mass alone, in which the facts of a seed leave no place for others. Equal facts are returned
    once, with the best hit. Nothing is read if the query does not ask for facts, or the corpus has none.
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
    ranked.sort(key=lambda one: (-one[0], one[1], one[2].id))
    return _take_turns([row for _, _, row in ranked])[:limit]


def _find_assertions(chunk_ids: Sequence[str], snapshot: GraphSnapshot) -> Ints:
    """Returns the assertions of these chunks that the snapshot has."""
    chunks = snapshot.chunks_with(chunk_ids)
    return snapshot.facts_of(chunks[chunks >= 0])


def _find_masses(
    assertions: Ints, pagerank: GraphRanking, snapshot: GraphSnapshot
) -> dict[tuple[str, str, str], float]:
    """Returns the masses of assertions by the ids of chunk, subject and object; those without mass are left out."""
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

"""Linking of a question to the nearest facts (HippoRAG 2's query-to-triple retrieval)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.ports.embedding import Vectors
from core.ports.record import TripleRow
from core.ports.retrieval import Query
from core.ports.views import Scored, VectorKind
from retrieval.backends import RetrievalBackends
from retrieval.candidates.facts import read_triples
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["LinkedFact", "link_facts"]

_SPARE = 8
_FURTHEST = 8192
"""Nearest facts that are requested at most, until enough of them are asserted by the documents of the search."""


@dataclass(frozen=True, kw_only=True)
class LinkedFact:
    """A triple, its subject and object as entities of the snapshot, and its score.

    The score is the cosine scaled between the least (0) and the greatest (1) of the corpus.
    """

    triple: TripleRow
    subject: int
    object: int
    score: float


async def link_facts(
    vector: Vectors, count: int, backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot
) -> list[LinkedFact]:
    """Returns the `count` nearest facts that the documents of the search assert, best first."""
    corpus_id = query.corpus.id
    asked = count + _SPARE
    while True:
        scored = await backends.vectors.search(corpus_id, VectorKind.FACT, vector, asked)
        facts = await _read_asserted(scored, backends, query, snapshot)
        if len(facts) >= count or len(scored) < asked or asked >= _FURTHEST:
            break
        asked *= 4
    if not facts:
        return []
    worst = await backends.vectors.search(corpus_id, VectorKind.FACT, -vector, 1)
    least, most = -worst[0].score if worst else 0.0, scored[0].score
    return [
        LinkedFact(triple=triple, subject=subject, object=object_, score=_scale(cosine, least, most))
        for triple, subject, object_, cosine in facts[:count]
    ]


async def _read_asserted(
    scored: Sequence[Scored], backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot
) -> list[tuple[TripleRow, int, int, float]]:
    triples = await read_triples([one.id for one in scored], snapshot, query.corpus.id, backends.contents)
    found = [(triples[one.id], one.score) for one in scored if one.id in triples]
    subjects = snapshot.entities_with([triple.subject_id for triple, _ in found]).tolist()
    objects = snapshot.entities_with([triple.object_id for triple, _ in found]).tolist()
    facts: dict[tuple[int, str, int], tuple[TripleRow, int, int, float]] = {}  # merged entities may have one twice
    for (triple, cosine), subject, object_ in zip(found, subjects, objects, strict=True):
        if subject >= 0 and object_ >= 0 and _is_asserted(triple, query.documents, snapshot):
            facts.setdefault((subject, triple.predicate, object_), (triple, subject, object_, cosine))
    return list(facts.values())


def _is_asserted(triple: TripleRow, documents: frozenset[str] | None, snapshot: GraphSnapshot) -> bool:
    """Returns whether a chunk of these documents, and of this snapshot, asserts the triple."""
    chunks = snapshot.chunks_with(triple.chunk_ids)
    known = chunks[chunks >= 0].tolist()
    return bool(known) if documents is None else not documents.isdisjoint(snapshot.document_ids(known))


def _scale(value: float, least: float, most: float) -> float:
    """Returns the scaled value; 1 where no two facts differ, as in HippoRAG's code."""
    return (value - least) / (most - least) if most > least else 1.0

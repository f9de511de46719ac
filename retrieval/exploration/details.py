"""An entity with what a corpus says of it: facts, synonyms, and the passages that mention it."""

from collections.abc import Iterable

import numpy as np

from core.ports.record import FactRow
from retrieval.candidates.facts import read_facts_of
from retrieval.exploration.scope import Scope
from retrieval.exploration.values import EntityDetails, EntityFact, EntitySynonym, Mentioning, MergedEntity

__all__ = ["show_entity"]

_MAX_ASSERTING = 2_000
"""Chunks that are read for the facts of one entity."""


async def show_entity(scope: Scope, entity_id: str, *, facts: int, passages: int) -> EntityDetails:
    """Returns an entity with at most so many facts and passages, and all its synonyms.

    Facts that more passages assert come first. Raises `NotFound` if no passage of the scope names the entity.
    """
    entity = scope.number_of(entity_id)
    rows = await _read_facts(scope, entity)
    mentioning = await _read_passages(scope, scope.chunks_of(entity)[:passages])
    synonyms = _find_synonyms(scope, entity)
    triples = _group(rows)
    kept = sorted(triples, key=lambda key: (-len(triples[key]), _spell(rows[triples[key][0]])))[:facts]
    numbers = {id: scope.number_of(id) for subject, _, object in kept for id in (subject, object)}
    refs = await scope.refs_of([entity, *synonyms, *numbers.values()])
    return EntityDetails(
        entity=refs[entity],
        facts=tuple(
            EntityFact(
                subject=refs[numbers[subject]],
                predicate=predicate,
                object=refs[numbers[object]],
                chunk_ids=tuple(sorted({rows[place].chunk_id for place in triples[subject, predicate, object]})),
            )
            for subject, predicate, object in kept
        ),
        fact_count=len(triples),
        synonyms=tuple(
            EntitySynonym(entity=refs[other], score=score)
            for other, score in sorted(synonyms.items(), key=lambda synonym: (-synonym[1], refs[synonym[0]].name))
        ),
        merged=await _read_merged(scope, refs[entity].id),
        passages=mentioning,
    )


async def _read_facts(scope: Scope, entity: int) -> list[FactRow]:
    """Returns the assertions about an entity, by chunk and fact id."""
    asserting = np.unique(scope.snapshot.facts_about(np.array([entity]))[:, 0])
    chunks = scope.may_read(asserting.tolist())[:_MAX_ASSERTING]
    if not chunks:
        return []
    (id,) = scope.snapshot.entity_ids([entity])
    asserting_ids = scope.snapshot.chunk_ids(chunks)
    rows = await read_facts_of(asserting_ids, scope.snapshot, scope.corpus.id, scope.backends.contents)
    known = {row.subject_id for row in rows} | {row.object_id for row in rows}
    there = {entity_id for entity_id in known if _is_known(scope, entity_id)}
    return [row for row in rows if id in (row.subject_id, row.object_id) and {row.subject_id, row.object_id} <= there]


def _is_known(scope: Scope, entity_id: str) -> bool:
    """Whether the snapshot has the entity, too: the record may be newer."""
    (place,) = scope.snapshot.entities_with([entity_id]).tolist()
    return place >= 0 and scope.is_there(place)


def _group(rows: list[FactRow]) -> dict[tuple[str, str, str], list[int]]:
    """Returns the places of the assertions of each triple."""
    triples: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows):
        triples.setdefault((row.subject_id, row.predicate, row.object_id), []).append(place)
    return triples


def _spell(row: FactRow) -> tuple[str, str, str]:
    return row.subject, row.predicate, row.object


def _find_synonyms(scope: Scope, entity: int) -> dict[int, float]:
    synonyms = scope.snapshot.synonyms_of(entity)
    return {other: score for other, score in synonyms.items() if scope.is_there(other)}


async def _read_merged(scope: Scope, entity_id: str) -> tuple[MergedEntity, ...]:
    merges = scope.snapshot.merges
    members = merges.members_of(entity_id)
    shown = await scope.backends.contents.get_entities(scope.corpus.id, members) if members else {}
    return tuple(MergedEntity(id=id, name=shown[id].display if id in shown else merges.names[id]) for id in members)


async def _read_passages(scope: Scope, chunks: Iterable[int]) -> tuple[Mentioning, ...]:
    ids = scope.snapshot.chunk_ids(chunks)
    found = await scope.backends.contents.get_chunks(scope.corpus.id, ids)
    documents = {chunk.document_id for chunk in found.values()}
    refs = await scope.backends.documents.get_refs(scope.corpus.id, documents)
    return tuple(
        Mentioning(chunk=found[id], document=refs[found[id].document_id])
        for id in ids
        if id in found and found[id].document_id in refs
    )

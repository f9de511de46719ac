"""Finding entities by name, and one entity with what a corpus says of it: facts, synonyms and passages.

A name is found exactly, in another spelling, by a part, with a typo, or by the likeness of vectors.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from core.errors import InvalidInput
from core.execution.threads import compute
from core.graph_schema import GraphSchema
from core.ports.record import FactRow
from core.ports.views import VectorKind
from core.text.names import normalise
from retrieval.candidates.explanations import read_facts_of
from retrieval.exploration.values import (
    EntityDetails,
    EntityFact,
    EntityRef,
    EntitySynonym,
    FoundEntity,
    Match,
    Mentioning,
    MergedEntity,
    Scope,
)
from retrieval.graph.names import fold_name

_CLOSE = 0.75
"""The least similarity of two names: 1 - edits / the length of the longer name. Swapped letters are one edit."""
_CLOSE_PART = 0.8
_SHORTEST_PART = 5
"""Of a shorter name, too many names have a part that is close."""
_LONGEST = 100
"""Characters of a name. A longer name is not compared, which bounds the time of a comparison."""
_BLOCK = 20_000
"""Names that are compared without letting other threads run, for some milliseconds."""


def find_close_names(name: str, names: Sequence[str]) -> list[tuple[int, float]]:
    """Returns the places of the names that are close to `name`, with their similarities (0 to 1), in the order of
    places.

    If no whole name is close, names with a close part are returned. Both are normalised names. Comparing a million
    names takes about a second.
    """
    from rapidfuzz import fuzz  # with the module below some hundredths of a second, which searches do not need
    from rapidfuzz.distance import OSA

    if not name or len(name) > _LONGEST:
        return []
    found = list(_compare(name, names, OSA.normalized_similarity, _CLOSE))
    if found or len(name) < _SHORTEST_PART:
        return found
    parts = _compare(name, names, fuzz.partial_ratio, 100 * _CLOSE_PART)
    return [(place, score / 100) for place, score in parts if len(names[place]) >= len(name)]


def _compare(
    name: str, names: Sequence[str], scorer: Callable[..., float], least: float
) -> Iterator[tuple[int, float]]:
    from rapidfuzz import process

    for start in range(0, len(names), _BLOCK):
        block = names[start : start + _BLOCK]
        found = process.extract(name, block, scorer=scorer, score_cutoff=least, limit=None)
        yield from sorted((start + place, float(score)) for _, score, place in found)


_MIN_SIMILARITY = 0.6
"""The cosine of two names below which they have little in common. Synonyms are linked from 0.8 on."""
_FURTHEST = 8192
"""Nearest names that are requested at most, until enough of them are of the documents of the search."""


MOST_TYPED = 2_000
"""Found entities whose types are compared with an asked type."""
_TYPED_AT_ONCE = 200


async def find_entities(scope: Scope, name: str, *, limit: int, type: str | None = None) -> list[FoundEntity]:
    """Returns at most `limit` entities in the order of `_rank_entities`.

    With a `type`, these are the entities of this type among the first `MOST_TYPED`. Raises `InvalidInput` for a type
    that the corpus does not have.
    """
    if type is not None and type not in scope.schema.type_names:
        known = ", ".join(scope.schema.type_names)
        raise InvalidInput(f"corpus {scope.corpus.name!r} has no type {type!r}; it has {known}")
    if type is None:
        ranked, similar = await _rank_entities(scope, name, limit)
        return await _refer(scope, ranked, similar)
    ranked, similar = await _rank_entities(scope, name, MOST_TYPED)
    found: list[FoundEntity] = []
    for start in range(0, len(ranked), _TYPED_AT_ONCE):
        batch = await _refer(scope, ranked[start : start + _TYPED_AT_ONCE], similar)
        found += [candidate for candidate in batch if candidate.entity.type == type]
        if len(found) >= limit:
            break
    return found[:limit]


async def _rank_entities(scope: Scope, name: str, limit: int) -> tuple[list[tuple[int, Match]], dict[int, float]]:
    """Returns at most `limit` entities in this order, within each kind the most mentioned first:

    - entities with the name,
    - entities with another spelling of it,
    - entities with a longer name that contains it,
    - entities with a similar name, if names have vectors.

    If no entity has the name or a part of it, entities with a close spelling come first, the closest first. An empty
    name finds the most mentioned entities.
    """
    if not name.strip():
        mentioned = _most_mentioned(scope, range(len(scope.graph.df)), limit)
        return [(entity, Match.ANY) for entity in mentioned], {}
    found = await compute(_find_by_name, scope, name, limit)
    close = {} if any(found.values()) else await compute(_find_close, scope, name)
    found[Match.CLOSE] = list(close)
    known = {entity for entities in found.values() for entity in entities}
    similar = await _find_similar(scope, name, limit) if len(known) < limit else {}
    found[Match.SIMILAR] = [entity for entity in similar if entity not in known]
    ranked = [(entity, match) for match, entities in found.items() for entity in entities]
    return ranked[:limit], similar | close


def _find_by_name(scope: Scope, name: str, limit: int) -> dict[Match, list[int]]:
    index, exact, key = scope.snapshot.names, normalise(name), fold_name(name)
    sharing = [entity for entity in index.entities(key) if scope.is_there(entity)]
    named = set(index.find_exact(key, exact))
    same = [entity for entity in sharing if entity in named]
    spelt = [entity for entity in sharing if entity not in named]
    parts: list[int] = []
    if len(sharing) < limit:
        known = set(sharing)
        holding = {entity for entity, other in index.list_names() if exact in other}
        parts = [entity for entity in sorted(holding - known) if scope.is_there(entity)]
    return {
        Match.EXACT: same,
        Match.SPELLING: _most_mentioned(scope, spelt, limit),
        Match.PART: _most_mentioned(scope, parts, limit),
    }


def _most_mentioned(scope: Scope, entities: Collection[int], limit: int) -> list[int]:
    """Returns the entities in the order of the number of passages that mention them, then by name."""
    there = np.fromiter(entities, np.int64, len(entities))
    there = there[scope.graph.adjacency.degree[scope.graph.chunks + there] > 0]
    counts = scope.graph.df[there]
    if len(there) > limit:  # all that may be among the first, ties included
        least = np.partition(counts, len(there) - limit)[len(there) - limit]
        there = there[counts >= least]
    df, name_of = scope.graph.df, scope.snapshot.name_of
    return sorted(there.tolist(), key=lambda entity: (-int(df[entity]), name_of(entity)))[:limit]


def _find_close(scope: Scope, name: str) -> dict[int, float]:
    """Returns entities with their similarity, the closest first, then the most mentioned."""
    listed = list(scope.snapshot.names.list_names())
    close: dict[int, float] = {}
    for place, score in find_close_names(normalise(name), [other for _, other in listed]):
        entity = listed[place][0]
        if scope.is_there(entity):
            close[entity] = max(score, close.get(entity, 0.0))
    df, name_of = scope.graph.df, scope.snapshot.name_of
    return dict(sorted(close.items(), key=lambda pair: (-pair[1], -int(df[pair[0]]), name_of(pair[0]))))


async def _find_similar(scope: Scope, name: str, limit: int) -> dict[int, float]:
    """Returns entities by descending cosine of their names; none if the names of this corpus have no vectors."""
    backends, wanted = scope.backends, normalise(name)
    if not wanted or not await backends.vectors.count(scope.corpus.id, VectorKind.ENTITY):
        return {}
    (vector,) = await backends.embedder.embed_passages([wanted])
    asked = limit
    while True:
        scored = await backends.vectors.search(scope.corpus.id, VectorKind.ENTITY, vector, asked)
        places = scope.snapshot.entities_with([hit.id for hit in scored]).tolist()
        similar: dict[int, float] = {}
        for place, hit in zip(places, scored, strict=True):
            if place >= 0 and scope.is_there(place) and hit.score >= _MIN_SIMILARITY:
                similar.setdefault(place, hit.score)
        ended = len(scored) < asked or scored[-1].score < _MIN_SIMILARITY
        if len(similar) >= limit or ended or asked >= _FURTHEST:
            return similar
        asked *= 4


async def _refer(scope: Scope, ranked: Sequence[tuple[int, Match]], similar: Mapping[int, float]) -> list[FoundEntity]:
    refs = await scope.refs_of(entity for entity, _ in ranked)
    measured = (Match.SIMILAR, Match.CLOSE)
    return [
        FoundEntity(entity=refs[entity], match=match, similarity=similar[entity] if match in measured else None)
        for entity, match in ranked
    ]


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
    triples = _group(rows, scope.schema)
    kept = sorted(triples, key=lambda key: (-len(triples[key]), _spell(rows[triples[key][0]])))[:facts]
    numbers = {id: scope.number_of(id) for subject, _, object in kept for id in (subject, object)}
    refs = await scope.refs_of([entity, *synonyms, *numbers.values()])
    return EntityDetails(
        entity=refs[entity],
        facts=tuple(
            _make_fact(
                scope.schema,
                (refs[numbers[subject]], predicate, refs[numbers[object]]),
                [rows[place] for place in triples[subject, predicate, object]],
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


def _group(rows: list[FactRow], schema: GraphSchema) -> dict[tuple[str, str, str], list[int]]:
    """Returns the places of the assertions of each triple. Phrases of one relation make one triple."""
    triples: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows):
        predicate, is_inverse = schema.name_fact(row.predicate)
        ends = (row.object_id, row.subject_id) if is_inverse else (row.subject_id, row.object_id)
        triples.setdefault((ends[0], predicate, ends[1]), []).append(place)
    return triples


def _make_fact(schema: GraphSchema, triple: tuple[EntityRef, str, EntityRef], rows: Sequence[FactRow]) -> EntityFact:
    subject, predicate, object_ = triple
    fit = schema.check_named(predicate, subject.type, object_.type) if schema else None
    return EntityFact(
        subject=subject,
        predicate=predicate,
        object=object_,
        chunk_ids=tuple(sorted({row.chunk_id for row in rows})),
        phrases=tuple(sorted({row.predicate for row in rows})),
        fit=fit,
    )


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

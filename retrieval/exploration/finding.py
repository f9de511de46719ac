"""Finding entities by name: exactly, in another spelling, by a part, with a typo, or by the likeness of vectors."""

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from core.execution.threads import compute
from core.ports.views import VectorKind
from core.text.names import normalise
from retrieval.exploration.scope import Scope
from retrieval.exploration.values import FoundEntity, Match
from retrieval.graph.names import fold_name

__all__ = ["find_close_names", "find_entities"]

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


async def find_entities(scope: Scope, name: str, *, limit: int) -> list[FoundEntity]:
    """Returns at most `limit` entities in this order, within each kind the most mentioned first:

    - entities with the name,
    - entities with another spelling of it,
    - entities with a longer name that contains it,
    - entities with a similar name, if names have vectors.

    If no entity has the name or a part of it, entities with a close spelling come first, the closest first. An empty
    name finds the most mentioned entities.
    """
    if not name.strip():
        return await _refer(scope, {Match.ANY: _most_mentioned(scope, range(len(scope.graph.df)), limit)}, {}, limit)
    found = await compute(_find_by_name, scope, name, limit)
    close = {} if any(found.values()) else await compute(_find_close, scope, name)
    found[Match.CLOSE] = list(close)
    known = {entity for entities in found.values() for entity in entities}
    similar = await _find_similar(scope, name, limit) if len(known) < limit else {}
    found[Match.SIMILAR] = [entity for entity in similar if entity not in known]
    return await _refer(scope, found, similar | close, limit)


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


async def _refer(
    scope: Scope, found: dict[Match, list[int]], similar: dict[int, float], limit: int
) -> list[FoundEntity]:
    ranked = [(entity, match) for match, entities in found.items() for entity in entities][:limit]
    refs = await scope.refs_of(entity for entity, _ in ranked)
    measured = (Match.SIMILAR, Match.CLOSE)
    return [
        FoundEntity(entity=refs[entity], match=match, similarity=similar[entity] if match in measured else None)
        for entity, match in ranked
    ]

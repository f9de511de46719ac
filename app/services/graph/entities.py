"""Exploration of a corpus' graph as the API and the command line offer it, restricted by a filter of documents."""

from collections.abc import Mapping
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput, NotFound
from core.text.characters import check_text
from retrieval.exploration import (
    EntityDetails,
    FoundEntity,
    Match,
    Scope,
    Subgraph,
    Ways,
    draw_neighbourhood,
    find_entities,
    find_ways,
    open_scope,
    show_entity,
)

__all__ = ["MAX_NAME", "MAX_NODES", "explain_ways", "find", "neighbourhood", "resolve", "show"]

MAX_NAME = 1_000
MAX_NODES = 1_000
"""The greatest number of nodes of a neighbourhood."""
_SUGGESTIONS = 5


async def find(
    container: Container, corpus: Corpus, name: str, *, limit: int, where: Mapping[str, Any] | None = None
) -> list[FoundEntity]:
    """Returns the entities with a name like this, as `find_entities` orders them; '' finds the most mentioned.

    Raises `InvalidInput` for a name that is too long or no valid Unicode, and `InvalidFilter` for a bad filter.
    """
    if len(name) > MAX_NAME:
        raise InvalidInput(f"the name has {len(name)} characters; at most {MAX_NAME} are allowed")
    check_text(name, "the name")
    return await find_entities(await _open(container, corpus, where), name, limit=limit)


async def show(
    container: Container,
    corpus: Corpus,
    entity_id: str,
    *,
    facts: int,
    passages: int,
    where: Mapping[str, Any] | None = None,
) -> EntityDetails:
    """Returns an entity with its facts, synonyms and passages. Raises `NotFound` for an unknown id."""
    return await show_entity(await _open(container, corpus, where), entity_id, facts=facts, passages=passages)


async def neighbourhood(
    container: Container,
    corpus: Corpus,
    entity_id: str,
    *,
    depth: int,
    limit: int,
    where: Mapping[str, Any] | None = None,
) -> Subgraph:
    """Returns the subgraph near an entity. Raises `NotFound` for an unknown id."""
    container.limits.check(depth=depth)
    return await draw_neighbourhood(await _open(container, corpus, where), entity_id, depth=depth, limit=limit)


async def explain_ways(
    container: Container,
    corpus: Corpus,
    from_id: str,
    to_id: str,
    *,
    limit: int,
    where: Mapping[str, Any] | None = None,
) -> Ways:
    """Returns the shortest ways between two entities. Raises `NotFound` for an unknown id."""
    return await find_ways(await _open(container, corpus, where), from_id, to_id, limit=limit)


async def resolve(container: Container, corpus: Corpus, named: str, *, where: Mapping[str, Any] | None = None) -> str:
    """Returns the id of the entity that has this id or this name, in whatever spelling.

    Raises `NotFound`, which suggests similar names, and `InvalidInput` if several entities have such a name.
    """
    scope = await _open(container, corpus, where)
    try:
        scope.number_of(named)
    except NotFound:
        return await _resolve_name(scope, corpus, named)
    return named


async def _resolve_name(scope: Scope, corpus: Corpus, name: str) -> str:
    check_text(name, "the name")
    if not name.strip():
        raise InvalidInput("the name of an entity is empty; give its name or its id")
    found = await find_entities(scope, name, limit=_SUGGESTIONS)
    for match in (Match.EXACT, Match.SPELLING):
        named = [one.entity for one in found if one.match is match]
        if len(named) == 1:
            return named[0].id
        if named:
            listed = ", ".join(f"{one.name!r} ({one.id})" for one in named)
            raise InvalidInput(f"several entities are called {name!r}: {listed}; give the id of one")
    similar = ", ".join(repr(one.entity.name) for one in found)
    advice = f"; similar names: {similar}" if similar else ""
    raise NotFound(f"there is no entity called {name!r} in corpus {corpus.name!r}{advice}")


async def _open(container: Container, corpus: Corpus, where: Mapping[str, Any] | None) -> Scope:
    return await open_scope(container.searching, corpus, await container.select_documents(corpus, where))

"""The graph of a corpus as the API and the command line offer it: exploration of entities, merges of entities, and the
schema of types and relations.

Exploration is restricted by a filter of documents.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput, NotFound
from core.graph import EntityMerge
from core.graph_schema import GraphSchema, read_graph_schema
from core.text.characters import check_text
from retrieval.exploration import (
    EntityDetails,
    FitCounts,
    FoundEntity,
    Match,
    Scope,
    Subgraph,
    Ways,
    count_fits,
    draw_neighbourhood,
    find_entities,
    find_ways,
    open_scope,
    show_entity,
)

MAX_NAME = 1_000
MAX_NODES = 1_000
"""The greatest number of nodes of a neighbourhood."""
_SUGGESTIONS = 5


async def find(
    container: Container,
    corpus: Corpus,
    name: str,
    *,
    limit: int,
    type: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> list[FoundEntity]:
    """Returns the entities with a name like this, as `find_entities` orders them; '' finds the most mentioned.

    With a `type`, returns the entities of this type among the first 2,000.

    Raises `InvalidInput` for a name that is too long or no valid Unicode, and `InvalidFilter` for a bad filter.
    """
    if len(name) > MAX_NAME:
        raise InvalidInput(f"the name has {len(name)} characters; at most {MAX_NAME} are allowed")
    check_text(name, "the name")
    return await find_entities(await _open(container, corpus, where), name, limit=limit, type=type)


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
        named = [candidate.entity for candidate in found if candidate.match is match]
        if len(named) == 1:
            return named[0].id
        if named:
            listed = ", ".join(f"{entity.name!r} ({entity.id})" for entity in named)
            raise InvalidInput(f"several entities are called {name!r}: {listed}; give the id of one")
    similar = ", ".join(repr(candidate.entity.name) for candidate in found)
    advice = f"; similar names: {similar}" if similar else ""
    raise NotFound(f"there is no entity called {name!r} in corpus {corpus.name!r}{advice}")


async def _open(container: Container, corpus: Corpus, where: Mapping[str, Any] | None) -> Scope:
    return await open_scope(container.searching, corpus, await container.select_documents(corpus, where))


@dataclass(frozen=True, kw_only=True)
class NamedEntity:
    """An entity with its display name, or its normalised name if no passage mentions it."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class NamedMerge:
    """A merge of `entity` into another entity, by their names."""

    id: str
    entity: NamedEntity
    into: NamedEntity
    merged_at: datetime
    automatic: bool = False


async def merge(container: Container, corpus: Corpus, from_id: str, into_id: str) -> NamedMerge:
    """Merges an entity into another. Raises as `EntityMerges.merge` does."""
    made = await container.record.merges.merge(corpus.id, from_id, into_id)
    return (await name_merges(container, corpus, [made]))[0]


async def undo(container: Container, corpus: Corpus, merge_id: str) -> NamedMerge:
    """Deletes a merge, and returns it. Raises `NotFound`. An automatic one is a rejected pair from then on."""
    for found in await container.record.merges.list(corpus.id):
        if found.id == merge_id and found.automatic:  # before it is undone: else it might be merged again at once
            await container.record.resolution.reject(corpus.id, found.from_id, found.into_id)
    undone = await container.record.merges.undo(corpus.id, merge_id)
    return (await name_merges(container, corpus, [undone]))[0]


async def list_merges(
    container: Container, corpus: Corpus, *, limit: int | None = None, after: str | None = None
) -> tuple[list[NamedMerge], str | None]:
    """Returns merges that the caller may see, the newest first, and the place of the last merge if there are more.

    Without `limit`, returns all. `after` is a place; it stays valid if the merge there is undone.
    """
    found = await container.record.merges.list(corpus.id)
    if not container.sees_all_documents:
        known = await select_known(container, corpus, {id for merge in found for id in (merge.from_id, merge.into_id)})
        found = [merge for merge in found if {merge.from_id, merge.into_id} <= known]
    if after is not None:
        moment, _, id = after.partition(" ")
        place = (-datetime.fromisoformat(moment).timestamp(), id)
        found = [merge for merge in found if (-merge.merged_at.timestamp(), merge.from_id) > place]
    page = found if limit is None else found[:limit]
    last = f"{page[-1].merged_at.isoformat()} {page[-1].from_id}" if len(page) < len(found) else None
    return await name_merges(container, corpus, page), last


async def select_known(container: Container, corpus: Corpus, entity_ids: Iterable[str]) -> set[str]:
    """Returns the entities that documents mention which the caller may see."""
    scope = await open_scope(container.searching, corpus, await container.select_documents(corpus, None))
    return {id for id in entity_ids if _is_known(scope, id)}


def _is_known(scope: Scope, entity_id: str) -> bool:
    try:
        scope.number_of(entity_id)
    except NotFound:
        return False
    return True


async def name_merges(container: Container, corpus: Corpus, merges: Sequence[EntityMerge]) -> list[NamedMerge]:
    """Returns merges with the names of their entities."""
    ids = {id for merge in merges for id in (merge.from_id, merge.into_id)}
    known = await container.record.contents.get_entities(corpus.id, sorted(ids))

    def named(id: str, name: str) -> NamedEntity:
        return NamedEntity(id=id, name=known[id].display if id in known else name)

    return [
        NamedMerge(
            id=merge.id,
            entity=named(merge.from_id, merge.from_name),
            into=named(merge.into_id, merge.into_name),
            merged_at=merge.merged_at,
            automatic=merge.automatic,
        )
        for merge in merges
    ]


async def get_schema(container: Container, corpus: Corpus) -> GraphSchema:
    """Returns the schema. Raises `NotFound` if the corpus has none."""
    text = await container.record.graph_schemas.get(corpus.id)
    if text is None:
        raise NotFound(
            f"corpus {corpus.name!r} has no schema: give it one with "
            f"`hopweave corpora schema {corpus.name} --schema schema.toml`"
        )
    return read_graph_schema(text)


async def set_schema(container: Container, corpus: Corpus, text: str) -> GraphSchema:
    """Keeps a schema in place of an earlier one. Raises `InvalidInput` with what is wrong; then nothing changes."""
    schema = read_graph_schema(text)
    await container.record.graph_schemas.set(corpus.id, text)
    return schema


async def delete_schema(container: Container, corpus: Corpus) -> None:
    """Deletes the schema, if there is one."""
    await container.record.graph_schemas.set(corpus.id, None)


async def check_facts(container: Container, corpus: Corpus) -> FitCounts:
    """Returns how the facts of documents that the caller may see fit the schema."""
    documents = await container.select_documents(corpus, None)
    return await count_fits(await open_scope(container.searching, corpus, documents))

"""Merges of entities as the API and the command line offer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.container import Container
from core.corpora import Corpus
from core.errors import NotFound
from core.graph import EntityMerge
from retrieval.exploration import Scope, open_scope

__all__ = ["NamedEntity", "NamedMerge", "list_merges", "merge", "undo"]


@dataclass(frozen=True, kw_only=True)
class NamedEntity:
    """An entity with its display name, or its normalised name if no passage mentions it."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class NamedMerge:
    """A merge of `entity` into another one, by their names."""

    id: str
    entity: NamedEntity
    into: NamedEntity
    merged_at: datetime


async def merge(container: Container, corpus: Corpus, from_id: str, into_id: str) -> NamedMerge:
    """Merges an entity into another one. Raises as `EntityMerges.merge` does."""
    made = await container.record.merges.merge(corpus.id, from_id, into_id)
    return (await _name(container, corpus, [made]))[0]


async def undo(container: Container, corpus: Corpus, merge_id: str) -> NamedMerge:
    """Deletes a merge, and returns it. Raises `NotFound`."""
    undone = await container.record.merges.undo(corpus.id, merge_id)
    return (await _name(container, corpus, [undone]))[0]


async def list_merges(
    container: Container, corpus: Corpus, *, limit: int | None = None, after: str | None = None
) -> tuple[list[NamedMerge], str | None]:
    """Returns merges that the caller may see, the newest first, and the place of the last one if there are more.

    Without `limit` all; `after` is a place, which is kept when the merge there is undone.
    """
    found = await container.record.merges.list(corpus.id)
    if not container.sees_all_documents:
        scope = await open_scope(container.searching, corpus, await container.select_documents(corpus, None))
        found = [one for one in found if _is_known(scope, one.from_id) and _is_known(scope, one.into_id)]
    if after is not None:
        moment, _, id = after.partition(" ")
        place = (-datetime.fromisoformat(moment).timestamp(), id)
        found = [merge for merge in found if (-merge.merged_at.timestamp(), merge.from_id) > place]
    page = found if limit is None else found[:limit]
    last = f"{page[-1].merged_at.isoformat()} {page[-1].from_id}" if len(page) < len(found) else None
    return await _name(container, corpus, page), last


def _is_known(scope: Scope, entity_id: str) -> bool:
    try:
        scope.number_of(entity_id)
    except NotFound:
        return False
    return True


async def _name(container: Container, corpus: Corpus, merges: Sequence[EntityMerge]) -> list[NamedMerge]:
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
        )
        for merge in merges
    ]

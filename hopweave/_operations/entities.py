"""Entities of a corpus' graph: find, get, the subgraph near one, the ways between two, and merges of two."""

import json
from collections.abc import Mapping
from typing import Any

from hopweave._steps import Steps, call, call_pages, decode, path, request
from hopweave.wire.entities import (
    EntityDetails,
    EntityList,
    EntityMerge,
    EntityProposals,
    EntityRejection,
    EntityRejectionList,
    EntityType,
    FoundEntity,
    GraphSchema,
    MergeList,
    Resolution,
    Subgraph,
    Ways,
)

__all__ = [
    "delete_schema",
    "find_entities",
    "find_ways",
    "get_entity",
    "get_neighbourhood",
    "get_resolution",
    "get_schema",
    "list_merges",
    "list_proposals",
    "list_rejections",
    "merge_entities",
    "reject_proposal",
    "set_resolution",
    "set_schema",
    "undo_merge",
    "withdraw_rejection",
]


def find_entities(
    corpus: str,
    query: str = "",
    *,
    limit: int = 20,
    type: EntityType | None = None,
    filter: Mapping[str, Any] | None = None,
) -> Steps[list[FoundEntity]]:
    """Returns entities by name, the best matches first; without a name the most mentioned ones.

    With a `type`, these are the entities of this type among the first 2,000 that are found.
    `filter` leaves documents that match it; entities that none of them names are not found.
    """
    at = path("corpora", corpus, "entities")
    listing = yield from call(EntityList, "GET", at, query=query, limit=limit, type=type, filter=_written(filter))
    return list(listing.data)


def get_entity(
    corpus: str, entity: str, *, facts: int = 50, passages: int = 10, filter: Mapping[str, Any] | None = None
) -> Steps[EntityDetails]:
    """Returns the entity with this id, with at most so many facts and passages."""
    at = path("corpora", corpus, "entities", entity)
    return call(EntityDetails, "GET", at, facts=facts, passages=passages, filter=_written(filter))


def get_neighbourhood(
    corpus: str, entity: str, *, depth: int = 2, limit: int = 50, filter: Mapping[str, Any] | None = None
) -> Steps[Subgraph]:
    """Returns at most `limit` nodes within `depth` edges of the entity with this id, and the edges between them."""
    at = path("corpora", corpus, "entities", entity, "neighbourhood")
    return call(Subgraph, "GET", at, depth=depth, limit=limit, filter=_written(filter))


def find_ways(
    corpus: str, entity: str, other: str, *, limit: int = 3, filter: Mapping[str, Any] | None = None
) -> Steps[Ways]:
    """Returns the shortest ways between the entities with these two ids."""
    at = path("corpora", corpus, "entities", entity, "ways")
    return call(Ways, "GET", at, to=other, limit=limit, filter=_written(filter))


def merge_entities(corpus: str, entity: str, into: str) -> Steps[EntityMerge]:
    """Merges the entity with this id into another: from then on both are one, with the id and the name of `into`."""
    return call(EntityMerge, "POST", path("corpora", corpus, "entities", entity, "merge"), {"into": into})


def list_merges(corpus: str) -> Steps[list[EntityMerge]]:
    """Returns all merges of a corpus, the newest first."""
    return call_pages(MergeList, path("corpora", corpus, "merges"))


def undo_merge(corpus: str, merge: str) -> Steps[EntityMerge]:
    """Undoes the merge with this id, in whatever order they were made, and returns it."""
    return call(EntityMerge, "POST", path("corpora", corpus, "merges", merge, "undo"))


def list_proposals(
    corpus: str, *, above: float = 0.0, limit: int = 50, filter: Mapping[str, Any] | None = None
) -> Steps[EntityProposals]:
    """Returns pairs of entities that may be one, of at least the probability `above`, the most probable first."""
    at = path("corpora", corpus, "proposals")
    return call(EntityProposals, "GET", at, above=str(above), limit=limit, filter=_written(filter))


def reject_proposal(corpus: str, entity: str, other: str) -> Steps[EntityRejection]:
    """States that the entities with these two ids are two: they are not proposed as one any more."""
    return call(EntityRejection, "POST", path("corpora", corpus, "rejections"), {"entity": entity, "other": other})


def list_rejections(corpus: str) -> Steps[list[EntityRejection]]:
    """Returns the rejected pairs of a corpus, the newest first."""
    listing = yield from call(EntityRejectionList, "GET", path("corpora", corpus, "rejections"))
    return list(listing.data)


def withdraw_rejection(corpus: str, rejection: str) -> Steps[EntityRejection]:
    """Withdraws the rejection with this id, and returns it: the pair may be proposed again."""
    return call(EntityRejection, "POST", path("corpora", corpus, "rejections", rejection, "withdraw"))


def get_resolution(corpus: str) -> Steps[Resolution]:
    """Returns from which probability on proposals are merged without being asked for."""
    return call(Resolution, "GET", path("corpora", corpus, "resolution"))


def set_resolution(corpus: str, merge_above: float | None) -> Steps[Resolution]:
    """Sets from which probability on (.5 to 1) the server merges proposals without being asked for; None: never."""
    return call(Resolution, "PATCH", path("corpora", corpus, "resolution"), {"merge_above": merge_above})


def get_schema(corpus: str, *, check: bool = True) -> Steps[GraphSchema]:
    """Returns the schema of a corpus' graph, and with `check` how the facts fit it. Raises `NotFoundError` if it has
    none.
    """
    return decode(GraphSchema, (yield request("GET", path("corpora", corpus, "schema"), check=str(check).lower())))


def set_schema(corpus: str, text: str) -> Steps[GraphSchema]:
    """Gives a corpus the schema that a `schema.toml` with this text states. It holds at once.

    Raises `InvalidRequestError` with the line of what is wrong.
    """
    return call(GraphSchema, "PUT", path("corpora", corpus, "schema"), {"text": text})


def delete_schema(corpus: str) -> Steps[None]:
    """Deletes the schema of a corpus' graph, if it has one."""
    yield request("DELETE", path("corpora", corpus, "schema"))


def _written(filter: Mapping[str, Any] | None) -> str | None:
    return None if filter is None else json.dumps(filter, allow_nan=False)

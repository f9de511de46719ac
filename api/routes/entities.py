"""The routes of the graph: find entities, show one, draw what is near it, explain what joins two, merge two.

The end has the routes of merges: list them, and undo one.
"""

from typing import Annotated

from fastapi import APIRouter, Query

from api.access.keys import READ, WRITE
from api.cursors import check_moment, decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, FilterDep, Limit
from api.schemas.entities import MergeIn, convert_found, convert_merges
from api.schemas.values import fill
from app.services import graph
from app.services.graph import MAX_NAME, MAX_NODES, explain_ways, find, neighbourhood, show
from hopweave.wire.entities import EntityDetails, EntityList, EntityMerge, MergeList, Subgraph, Ways

router = APIRouter(prefix="/v1/corpora/{corpus}/entities", tags=["entities"])


@router.get("", dependencies=[READ], summary="Find entities by name")
async def find_by_name(
    corpus: CorpusDep,
    container: ContainerDep,
    where: FilterDep,
    query: Annotated[str, Query(description="A name; empty: the most mentioned entities.", max_length=MAX_NAME)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    type: Annotated[
        str | None,
        Query(
            description="Only entities of this type, among the first 2,000 that are found: one of those without a "
            "schema, or of the schema of the corpus.",
            max_length=40,
        ),
    ] = None,
) -> EntityList:
    """The name, other spellings of it, names that hold it, and similar names where names have vectors."""
    found = await find(container, corpus, query, limit=limit, type=type, where=where)
    return convert_found(found)


@router.get("/{id}", dependencies=[READ], summary="One entity with its facts and passages")
async def show_one(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    where: FilterDep,
    facts: Annotated[int, Query(ge=0, le=1000, description="At most this many facts.")] = 50,
    passages: Annotated[int, Query(ge=0, le=200, description="At most this many passages.")] = 10,
) -> EntityDetails:
    """Each fact names the passages that assert it."""
    details = await show(container, corpus, id, facts=facts, passages=passages, where=where)
    return fill(EntityDetails, details)


@router.get("/{id}/neighbourhood", dependencies=[READ], summary="The subgraph near an entity")
async def draw(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    where: FilterDep,
    depth: Annotated[int, Query(ge=1, le=6, description="The greatest number of edges from the entity.")] = 2,
    limit: Annotated[int, Query(ge=1, le=MAX_NODES, description="At most this many nodes.")] = 50,
) -> Subgraph:
    """Entities and passages with the edges between them; two entities of one passage are two edges apart."""
    return fill(Subgraph, await neighbourhood(container, corpus, id, depth=depth, limit=limit, where=where))


@router.get("/{id}/ways", dependencies=[READ], summary="The shortest ways to another entity")
async def explain(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    where: FilterDep,
    to: Annotated[str, Query(description="The id of the other entity.")],
    limit: Annotated[int, Query(ge=1, le=20)] = 3,
) -> Ways:
    """Each step is a fact, a synonym, or a passage that mentions both of its ends, with the passage that states it."""
    return fill(Ways, await explain_ways(container, corpus, id, to, limit=limit, where=where))


@router.post("/{id}/merge", dependencies=[WRITE], summary="Merge an entity into another")
async def merge(corpus: CorpusDep, id: str, body: MergeIn, container: ContainerDep) -> EntityMerge:
    """From then on searches and this API take both for one, with the id and the name of `into`. It can be undone.

    409 if the entity is merged already, or both are one.
    """
    return fill(EntityMerge, await graph.merge(container, corpus, id, body.into))


merge_router = APIRouter(prefix="/v1/corpora/{corpus}/merges", tags=["entities"])


@merge_router.get("", dependencies=[READ], summary="List merges of entities")
async def list_all(
    corpus: CorpusDep, container: ContainerDep, limit: Limit = 50, cursor: str | None = None
) -> MergeList:
    """The newest first."""
    scope = ("merges", corpus.id)
    after = decode_cursor(cursor, *scope, check=check_moment)
    found, last = await graph.list_merges(container, corpus, limit=limit, after=after)
    return convert_merges(found, encode_cursor(last, *scope))


@merge_router.post("/{id}/undo", dependencies=[WRITE], summary="Undo a merge of entities")
async def undo(corpus: CorpusDep, id: str, container: ContainerDep) -> EntityMerge:
    """Merges may be undone in any order. Everything is as if this one had never been made."""
    return fill(EntityMerge, await graph.undo(container, corpus, id))

"""The routes of merges of entities: list them, and undo one. `entities.py` makes them."""

from fastapi import APIRouter

from api.access.scopes import READ, WRITE
from api.cursors import check_moment, decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep
from api.parameters import Limit
from api.schemas.entities import EntityMergeOut, MergeListOut
from app.services import graph

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/merges", tags=["entities"])


@router.get("", dependencies=[READ], summary="List merges of entities")
async def list_all(
    corpus: CorpusDep, container: ContainerDep, limit: Limit = 50, cursor: str | None = None
) -> MergeListOut:
    """The newest first."""
    scope = ("merges", corpus.id)
    after = decode_cursor(cursor, *scope, check=check_moment)
    found, last = await graph.list_merges(container, corpus, limit=limit, after=after)
    return MergeListOut.model_validate({"data": found, "next_cursor": encode_cursor(last, *scope)})


@router.post("/{id}/undo", dependencies=[WRITE], summary="Undo a merge of entities")
async def undo(corpus: CorpusDep, id: str, container: ContainerDep) -> EntityMergeOut:
    """Merges may be undone in any order. Everything is as if this one had never been made."""
    return EntityMergeOut.model_validate(await graph.undo(container, corpus, id))

"""The routes of passages: all passages of a document, or one passage with its neighbours."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from api.access.scopes import READ
from api.cursors import check_position, decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, json_response
from api.parameters import Limit
from api.schemas.documents import ChunkListOut, ChunkOut, NeighbouringChunkOut
from app.services.documents import list_chunks_of_page
from core.errors import NotFound
from indexer import LAST_PAGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["chunks"])


@dataclass(frozen=True, kw_only=True)
class _ListQuery:
    """The parameters of a list."""

    page: Annotated[int | None, Query(ge=0, le=LAST_PAGE, description="Only the passages of this page.")] = None
    start: Annotated[int, Query(ge=0, le=LAST_PAGE, description="Only passages from this `position` on.")] = 0
    limit: Limit = 50
    cursor: str | None = None


@router.get(
    "/documents/{id}/chunks",
    dependencies=[READ],
    summary="A document's passages, in order",
    response_model=ChunkListOut,
)
async def list_chunks(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    query: Annotated[_ListQuery, Depends()],
) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    page, limit = query.page, query.limit
    scope = ("chunks", corpus.id, document.id, None if page is None else str(page), str(query.start))
    after = int(decode_cursor(query.cursor, *scope, check=check_position) or query.start - 1)
    if page is None:
        chunks = await container.record.contents.get_chunks_of(corpus.id, document.id, after=after, limit=limit + 1)
    else:
        chunks = await list_chunks_of_page(container, corpus, document, page, after=after, limit=limit + 1)
    last = str(chunks[limit - 1].position) if len(chunks) > limit else None
    data = [ChunkOut.model_validate(chunk) for chunk in chunks[:limit]]
    return json_response(ChunkListOut(data=data, next_cursor=encode_cursor(last, *scope)))


@router.get("/chunks/{id}", dependencies=[READ], summary="One passage with its neighbours")
async def show_chunk(corpus: CorpusDep, id: str, container: ContainerDep) -> NeighbouringChunkOut:
    near = (await container.record.contents.get_surroundings(corpus.id, [id], 1)).get(id, [])
    places = {chunk.position: chunk for chunk in near}
    found = next((chunk for chunk in near if chunk.id == id), None)
    if found is None:
        raise NotFound(f"there is no passage with the id {id!r} in corpus {corpus.name!r}")
    before, after = places.get(found.position - 1), places.get(found.position + 1)
    return NeighbouringChunkOut(
        **dict(ChunkOut.model_validate(found)),
        previous=None if before is None else ChunkOut.model_validate(before),
        next=None if after is None else ChunkOut.model_validate(after),
    )

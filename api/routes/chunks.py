"""The routes of passages: all passages of a document, or one passage with its neighbours."""

from fastapi import APIRouter, Response

from api.access.scopes import READ
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, json_response
from api.parameters import Limit
from api.schemas.documents import ChunkListOut, ChunkOut, NeighbouringChunkOut
from core.errors import NotFound

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["chunks"])


@router.get(
    "/documents/{id}/chunks",
    dependencies=[READ],
    summary="A document's passages, in order",
    response_model=ChunkListOut,
)
async def list_chunks(
    corpus: CorpusDep, id: str, container: ContainerDep, limit: Limit = 50, cursor: str | None = None
) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    scope = ("chunks", corpus.id, document.id)
    after = int(decode_cursor(cursor, *scope) or -1)
    chunks = await container.record.contents.get_chunks_of(corpus.id, document.id, after=after, limit=limit + 1)
    last = str(chunks[limit - 1].position) if len(chunks) > limit else None
    page = [ChunkOut.model_validate(chunk) for chunk in chunks[:limit]]
    return json_response(ChunkListOut(data=page, next_cursor=encode_cursor(last, *scope)))


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

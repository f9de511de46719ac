"""The routes of passages: all passages of a document, or one passage with its neighbours."""

from fastapi import APIRouter, Response

from api.access.scopes import READ
from api.deps import ContainerDep, CorpusDep, json_response
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
async def list_chunks(corpus: CorpusDep, id: str, container: ContainerDep) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    chunks = await container.record.contents.get_chunks_of(corpus.id, document.id)
    return json_response(ChunkListOut(data=[ChunkOut.model_validate(chunk) for chunk in chunks]))


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

"""The routes of passages: all passages of a document, or one passage with its neighbours."""

from fastapi import APIRouter, Response

from api.deps import ContainerDep, CorpusDep, json_response
from api.schemas.documents import ChunkListOut, ChunkOut, NeighbouringChunkOut
from core.errors import NotFound

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["chunks"])


@router.get("/documents/{id}/chunks", summary="A document's passages, in order", response_model=ChunkListOut)
async def list_chunks(corpus: CorpusDep, id: str, container: ContainerDep) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    chunks = await container.record.contents.get_chunks_of(corpus.id, document.id)
    return json_response(ChunkListOut(data=[ChunkOut.model_validate(chunk) for chunk in chunks]))


@router.get("/chunks/{id}", summary="One passage with its neighbours")
async def show_chunk(corpus: CorpusDep, id: str, container: ContainerDep) -> NeighbouringChunkOut:
    found = (await container.record.contents.get_chunks(corpus.id, [id])).get(id)
    if found is None:
        raise NotFound(f"there is no passage with the id {id!r} in corpus {corpus.name!r}")
    siblings = {
        chunk.position: chunk for chunk in await container.record.contents.get_chunks_of(corpus.id, found.document_id)
    }
    before, after = siblings.get(found.position - 1), siblings.get(found.position + 1)
    return NeighbouringChunkOut(
        **dict(ChunkOut.model_validate(found)),
        previous=None if before is None else ChunkOut.model_validate(before),
        next=None if after is None else ChunkOut.model_validate(after),
    )

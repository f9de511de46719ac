"""The route that exports a corpus as a stream."""

from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from api.deps import ContainerDep, CorpusDep
from app.export.exports import ExportFormat, export

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/export", tags=["export"])


@router.get("", summary="Export the readable content of a corpus", response_class=StreamingResponse)
async def export_corpus(
    corpus: CorpusDep,
    container: ContainerDep,
    format: ExportFormat = ExportFormat.JSONL,
    canonical: bool = False,
) -> StreamingResponse:
    """`canonical` sorts the content, so that equal content gives equal bytes."""
    headers = {"Content-Disposition": f'attachment; filename="{corpus.name}.{format.value}"'}
    blocks = export(container, corpus, format, canonical=canonical)
    first = await anext(blocks, b"")  # an error before it still becomes a problem with its own status
    return StreamingResponse(_chain(first, blocks), media_type=format.media_type, headers=headers)


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for block in rest:
        yield block

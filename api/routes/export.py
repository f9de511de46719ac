"""A corpus written out, streamed."""

from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from api.deps import ContainerDep, CorpusDep
from app.export.exports import ExportFormat, export

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/export", tags=["export"])


@router.get("", summary="Everything that readers see of a corpus", response_class=StreamingResponse)
async def export_corpus(
    corpus: CorpusDep,
    container: ContainerDep,
    format: ExportFormat = ExportFormat.JSONL,
    canonical: bool = False,
) -> StreamingResponse:
    """`canonical`: sorted and comparable, so that equal content is equal bytes."""
    headers = {"Content-Disposition": f'attachment; filename="{corpus.name}.{format.value}"'}
    blocks = export(container, corpus, format, canonical=canonical)
    first = await anext(blocks, b"")  # what goes wrong before it is still a problem with a status
    return StreamingResponse(_chained(first, blocks), media_type=format.media_type, headers=headers)


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for block in rest:
        yield block

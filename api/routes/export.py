"""The route that exports a corpus as a stream."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from api.access.scopes import EXPORT
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep
from app.export.exports import ExportFormat, export

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/export", tags=["export"])


@router.get(
    "", dependencies=[EXPORT], summary="Export the readable content of a corpus", response_class=StreamingResponse
)
async def export_corpus(
    corpus: CorpusDep,
    container: ContainerDep,
    request: Request,
    format: ExportFormat = ExportFormat.JSONL,
    canonical: bool = False,
) -> StreamingResponse:
    """`canonical` sorts the content, so that equal content gives equal bytes."""
    headers = {"Content-Disposition": f'attachment; filename="{corpus.name}.{format.value}"'}
    blocks = export(container, corpus, format, canonical=canonical)
    # An error before the first block still becomes a problem with its own status.
    first = await run_while_connected(request, _read_first(blocks))
    return StreamingResponse(_chain(first, blocks), media_type=format.media_type, headers=headers)


async def _read_first(blocks: AsyncGenerator[bytes]) -> bytes:
    return await anext(blocks, b"")


async def _chain(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Yields all blocks. Reading ends when the client disconnects."""
    async with aclosing(rest):
        yield first
        async for block in rest:
            yield block

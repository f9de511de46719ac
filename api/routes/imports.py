"""The route that imports an exported corpus, which is received as a stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict

from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect

from api.access.scopes import ADMIN
from api.connection import run_while_connected
from api.deps import ContainerDep
from api.schemas.imports import ImportedOut
from app.archive import RestoreResult, import_corpus, open_stream
from core.corpora import Fine
from core.errors import HopweaveError

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/import", tags=["export"])

_NAME = "the body"
_DRAIN_SECONDS = 10.0
"""How long the rest of a refused body is received: a client that cannot send it may not read the response."""
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("application/x-ndjson", "application/gzip")
        },
    }
}


@router.post("", dependencies=[ADMIN], summary="Import an exported corpus", openapi_extra=_BODY)
async def import_into(
    corpus: str,
    request: Request,
    container: ContainerDep,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> ImportedOut:
    """The body is what `GET …/export?format=jsonl` returns, plain or compressed with gzip. No model is asked for what
    it holds. A missing corpus is created with its settings; else documents replace those with the same keys.

    Nothing is written before all of the body is received and checked: a body that is cut off, or has a broken line,
    changes nothing. If the client disconnects later, the import stops between two documents, and the same request
    continues it. 409 if the corpus, or a parameter, has another setting than the body.
    """
    received = asyncio.Event()
    pieces = _receive(request, received)
    source = open_stream(pieces, _NAME, max_bytes=int(container.settings.api.max_import_mb * 1_000_000))
    requested = {"chunker": chunker, "extractor": extractor, "fine": fine}
    try:
        work = import_corpus(container, source, corpus, requested, _ignore)
        result = await run_while_connected(request, work, received)
    except HopweaveError:
        await _drain(pieces)
        raise
    return _make_response(corpus, result)


async def _receive(request: Request, received: asyncio.Event) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        yield piece
    received.set()


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _make_response(corpus: str, result: RestoreResult) -> ImportedOut:
    fields = asdict(result)
    del fields["name"]
    return ImportedOut(corpus=corpus, **fields)


def _ignore(activity: str, done: int, total: int | None) -> None: ...

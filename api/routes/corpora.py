"""The routes of corpora: list, create, show, rename, delete, reindex; and export and import.

An export is sent as a stream, and an exported corpus is received as a stream.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.access.keys import ADMIN, EXPORT, READ
from api.cursors import decode_cursor, encode_cursor
from api.deps import (
    ContainerDep,
    CorpusDep,
    IdempotencyKey,
    Limit,
    run_json_once,
    run_while_connected,
    set_job_location,
)
from api.schemas.corpora import CorpusIn, ReindexIn, RenameIn, convert_corpus, convert_counted
from api.schemas.jobs import convert_started
from api.schemas.values import fill
from app.archive import RestoreResult, import_corpus, open_stream
from app.container.container import Watch
from app.export.exports import ExportFormat, export
from app.services import corpora
from core.corpora import Fine
from core.errors import HopweaveError
from hopweave.wire.corpora import Corpus, CorpusDetail, CorpusList, Imported
from hopweave.wire.jobs import Started

_log = logging.getLogger("hopweave.api")

router = APIRouter(prefix="/v1/corpora", tags=["corpora"])


@router.get("", dependencies=[READ], summary="List corpora, by name")
async def list_corpora(container: ContainerDep, limit: Limit = 50, cursor: str | None = None) -> CorpusList:
    after = decode_cursor(cursor, "corpora") or ""
    found = [corpus for corpus in await container.record.corpora.list() if corpus.name > after]
    last = found[limit - 1].name if len(found) > limit else None
    page = tuple(convert_corpus(corpus) for corpus in found[:limit])
    return CorpusList(data=page, next_cursor=encode_cursor(last, "corpora"))


@router.post("", dependencies=[ADMIN], summary="Create a corpus", status_code=HTTPStatus.CREATED, response_model=Corpus)
async def create_corpus(
    body: CorpusIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    async def work() -> Corpus:
        settings = {"chunker": body.chunker, "extractor": body.extractor, "embedding": body.embedding}
        corpora.check_offered(container, body.embedding)
        made = await corpora.create(container, body.name, **settings, fine=body.fine, schema=body.graph_schema)
        return convert_corpus(made)

    return await run_json_once(request, container, key, work, status=HTTPStatus.CREATED, locate=_locate_corpus)


def _locate_corpus(answer: Mapping[str, Any]) -> str:
    return f"/v1/corpora/{answer['name']}"


@router.get("/{corpus}", dependencies=[READ], summary="A corpus with its settings and counts")
async def show_corpus(corpus: CorpusDep, container: ContainerDep) -> CorpusDetail:
    counts = await container.record.corpora.count(corpus.id) if container.sees_all_documents else None
    return convert_counted(corpus, counts)


@router.patch("/{corpus}", dependencies=[ADMIN], summary="Rename a corpus")
async def rename_corpus(corpus: CorpusDep, body: RenameIn, container: ContainerDep) -> Corpus:
    return convert_corpus(await container.record.corpora.rename(corpus.name, body.name))


@router.delete(
    "/{corpus}",
    dependencies=[ADMIN],
    summary="Delete a corpus with everything in it",
    status_code=HTTPStatus.ACCEPTED,
)
async def delete_corpus(corpus: str, container: ContainerDep, response: Response) -> Started:
    """It is invisible at once, and its name is free. The same request returns the same job while it runs, then 404."""
    job = await corpora.delete(container, corpus)
    set_job_location(response, job.id)
    return convert_started(job)


@router.post(
    "/{corpus}/reindex",
    dependencies=[ADMIN],
    summary="Index a corpus again in the background",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Started,
)
async def reindex_corpus(
    corpus: CorpusDep, body: ReindexIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    """The present index answers until the new one is complete and replaces it. Cancelling the job stops it.

    If a document that is readable now cannot be indexed again, the job fails and the present index stays.
    """

    async def work() -> Started:
        settings = {"chunker": body.chunker, "extractor": body.extractor, "embedding": body.embedding}
        corpora.check_offered(container, body.embedding)
        return convert_started(await corpora.reindex(container, corpus.name, **settings, fine=body.fine))

    return await run_json_once(request, container, key, work)


export_router = APIRouter(prefix="/v1/corpora/{corpus}/export", tags=["export"])


@export_router.get(
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
    watch = await container.open_watch(corpus.id)
    blocks = export(container, corpus, format, canonical=canonical)
    # An error before the first block still becomes a problem with its own status.
    first = await run_while_connected(request, _read_first(blocks))
    return _ExportResponse(_chain(first, blocks), watch, format.media_type, headers)


class _ExportResponse(StreamingResponse):
    """Breaks off with the error of `watch`: what is sent may wait for its client for long, and nothing is looked at
    meanwhile.
    """

    def __init__(
        self, blocks: AsyncGenerator[bytes], watch: Watch | None, media_type: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(blocks, media_type=media_type, headers=headers)
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._watch is None:
            await super().__call__(scope, receive, send)
            return
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch())
                await super().__call__(scope, receive, send)
                watching.cancel()
        except ExceptionGroup as errors:  # of one error: it ends the other task
            error = errors.exceptions[0]
            _log.warning("an export is broken off: %s", error)
            raise error from None


async def _read_first(blocks: AsyncGenerator[bytes]) -> bytes:
    return await anext(blocks, b"")


async def _chain(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Yields all blocks. Reading ends when the client disconnects."""
    async with aclosing(rest):
        yield first
        async for block in rest:
            yield block


import_router = APIRouter(prefix="/v1/corpora/{corpus}/import", tags=["export"])

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


@import_router.post("", dependencies=[ADMIN], summary="Import an exported corpus", openapi_extra=_BODY)
async def import_into(
    corpus: str,
    request: Request,
    container: ContainerDep,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> Imported:
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


def _make_response(corpus: str, result: RestoreResult) -> Imported:
    return fill(Imported, result, corpus=corpus)


def _ignore(activity: str, done: int, total: int | None) -> None: ...

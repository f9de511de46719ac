"""The routes of corpora: list, create, show, rename, delete, reindex."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response

from api.access.scopes import ADMIN, READ
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, set_job_location
from api.idempotency import IdempotencyKey, run_json_once
from api.parameters import Limit
from api.schemas.corpora import (
    CorpusDetailOut,
    CorpusIn,
    CorpusListOut,
    CorpusOut,
    ReindexIn,
    RenameIn,
)
from api.schemas.jobs import StartedOut
from app.services import corpora

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora", tags=["corpora"])


@router.get("", dependencies=[READ], summary="List corpora, by name")
async def list_corpora(container: ContainerDep, limit: Limit = 50, cursor: str | None = None) -> CorpusListOut:
    after = decode_cursor(cursor, "corpora") or ""
    found = [corpus for corpus in await container.record.corpora.list() if corpus.name > after]
    last = found[limit - 1].name if len(found) > limit else None
    page = [CorpusOut.from_corpus(corpus) for corpus in found[:limit]]
    return CorpusListOut(data=page, next_cursor=encode_cursor(last, "corpora"))


@router.post(
    "", dependencies=[ADMIN], summary="Create a corpus", status_code=HTTPStatus.CREATED, response_model=CorpusOut
)
async def create_corpus(
    body: CorpusIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    async def work() -> CorpusOut:
        settings = {"chunker": body.chunker, "extractor": body.extractor, "embedding": body.embedding}
        return CorpusOut.from_corpus(await corpora.create(container, body.name, **settings, fine=body.fine))

    return await run_json_once(request, container, key, work, status=HTTPStatus.CREATED, locate=_locate_corpus)


def _locate_corpus(answer: Mapping[str, Any]) -> str:
    return f"/v1/corpora/{answer['name']}"


@router.get("/{corpus}", dependencies=[READ], summary="A corpus with its settings and counts")
async def show_corpus(corpus: CorpusDep, container: ContainerDep) -> CorpusDetailOut:
    counts = await container.record.corpora.count(corpus.id) if container.sees_all_documents else None
    return CorpusDetailOut.from_counts(corpus, counts)


@router.patch("/{corpus}", dependencies=[ADMIN], summary="Rename a corpus")
async def rename_corpus(corpus: CorpusDep, body: RenameIn, container: ContainerDep) -> CorpusOut:
    return CorpusOut.from_corpus(await container.record.corpora.rename(corpus.name, body.name))


@router.delete(
    "/{corpus}",
    dependencies=[ADMIN],
    summary="Delete a corpus with everything in it",
    status_code=HTTPStatus.ACCEPTED,
)
async def delete_corpus(corpus: str, container: ContainerDep, response: Response) -> StartedOut:
    """It is invisible at once, and its name is free. The same request returns the same job while it runs, then 404."""
    job = await corpora.delete(container, corpus)
    set_job_location(response, job.id)
    return StartedOut.from_job(job)


@router.post(
    "/{corpus}/reindex",
    dependencies=[ADMIN],
    summary="Index a corpus again in the background",
    status_code=HTTPStatus.ACCEPTED,
    response_model=StartedOut,
)
async def reindex_corpus(
    corpus: CorpusDep, body: ReindexIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    """The present index answers until the new one is complete and replaces it. Cancelling the job stops it.

    If a document that is readable now cannot be indexed again, the job fails and the present index stays.
    """

    async def work() -> StartedOut:
        settings = {"chunker": body.chunker, "extractor": body.extractor}
        return StartedOut.from_job(await corpora.reindex(container, corpus.name, **settings, fine=body.fine))

    return await run_json_once(request, container, key, work)

"""The routes of documents: submit, list, show, delete, retry, and read the original."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from api.deps import ContainerDep, CorpusDep, json_response, set_job_location
from api.schemas.documents import (
    DocumentListOut,
    DocumentOut,
    DocumentsIn,
    EnqueuedOut,
    KeysIn,
)
from api.schemas.jobs import StartedOut
from api.submissions import parse_submissions
from api.uploads.routing import describe_upload
from app.services.documents import find_document_ids, retry
from app.services.ingestion import delete_documents, submit
from core.documents import RevisionState

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/documents", tags=["documents"])


@router.post("", summary="Submit documents", status_code=HTTPStatus.ACCEPTED, openapi_extra=describe_upload())
async def add_documents(
    corpus: CorpusDep, body: DocumentsIn, container: ContainerDep, response: Response
) -> EnqueuedOut:
    """A worker indexes them; the job at `Location` shows the progress."""
    tokens = body.budget.tokens if body.budget else None
    submissions = parse_submissions(body.documents)
    enqueued = await submit(container, corpus, submissions, body.on_conflict, token_budget=tokens)
    set_job_location(response, enqueued.job.id)
    return EnqueuedOut.from_job(enqueued)


@router.get("", summary="List documents, by key", response_model=DocumentListOut)
async def list_documents(
    corpus: CorpusDep,
    container: ContainerDep,
    key: str | None = None,
    state: RevisionState | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Response:
    page = await container.record.documents.list(corpus.id, limit=limit, cursor=cursor, key=key, state=state)
    return json_response(DocumentListOut.model_validate(page))


@router.post("/delete", summary="Delete documents by key", status_code=HTTPStatus.ACCEPTED)
async def delete_by_keys(corpus: CorpusDep, body: KeysIn, container: ContainerDep, response: Response) -> StartedOut:
    job = await delete_documents(container, corpus, await find_document_ids(container, corpus, body.keys))
    set_job_location(response, job.id)
    return StartedOut.from_job(job)


@router.get("/{id}", summary="One document")
async def show_document(corpus: CorpusDep, id: str, container: ContainerDep) -> DocumentOut:
    return DocumentOut.model_validate(await container.record.documents.get(corpus.id, id))


@router.delete("/{id}", summary="Delete a document", status_code=HTTPStatus.ACCEPTED)
async def delete_document(corpus: CorpusDep, id: str, container: ContainerDep, response: Response) -> StartedOut:
    """It is invisible at once; the job deletes the facts and entities that only this document stated."""
    job = await delete_documents(container, corpus, [id])
    set_job_location(response, job.id)
    return StartedOut.from_job(job)


@router.post("/{id}/retry", summary="Retry a failed document", status_code=HTTPStatus.ACCEPTED)
async def retry_document(corpus: CorpusDep, id: str, container: ContainerDep, response: Response) -> StartedOut:
    job = await retry(container, corpus, id)
    set_job_location(response, job.id)
    return StartedOut.from_job(job)


@router.get("/{id}/content", summary="The original bytes", response_class=Response)
async def document_content(corpus: CorpusDep, id: str, container: ContainerDep) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    content = await container.files.get(corpus.id, document.content_hash)
    name = quote(document.key.replace("\\", "/").rsplit("/", 1)[-1], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "X-Content-Type-Options": "nosniff",  # no browser may run the content of a document
    }
    return Response(content, media_type=document.media_type, headers=headers)

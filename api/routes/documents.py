"""The routes of documents: submit, list, show, change, delete, retry; and estimates of the cost of indexing.

Documents come as JSON, or as files in `multipart/form-data`.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from api.access.keys import READ, WRITE
from api.cursors import decode_cursor, encode_cursor
from api.deps import (
    ContainerDep,
    CorpusDep,
    FilterText,
    IdempotencyKey,
    json_response,
    parse_filter_parameter,
    run_json_once,
    run_once,
    run_while_connected,
    set_job_location,
)
from api.schemas.documents import (
    AccessChangeIn,
    DeleteIn,
    DocumentIn,
    DocumentPatchIn,
    DocumentsIn,
    convert_deletion,
    convert_enqueued,
    convert_estimate,
)
from api.schemas.jobs import convert_started
from api.schemas.validity import convert_validity
from api.schemas.values import fill
from api.uploads import UploadRoute, describe_upload, parse_upload, receive_parts
from app.services.documents import (
    can_be_drawn,
    count_pages,
    delete_by_keys,
    delete_matching,
    list_matching,
    patch_document,
    retry,
    set_access_by_keys,
    set_access_matching,
)
from app.services.estimates import estimate
from app.services.ingestion import check_queue, delete_one_document, submit, submit_found
from app.services.validity import find_validity, open_register
from core.documents import RevisionState, Submission
from core.errors import InvalidInput, UnsupportedMedia
from core.filters import parse_filter
from core.ids import content_hash
from hopweave.wire.documents import AccessChange, Deletion, Document, DocumentDetail, DocumentList, Enqueued, Estimate
from hopweave.wire.jobs import Started
from indexer import make_submission, submission_from_json

upload_router = APIRouter(prefix="/v1/corpora/{corpus}", route_class=UploadRoute, include_in_schema=False)


@upload_router.post("/documents", dependencies=[WRITE], status_code=HTTPStatus.ACCEPTED, response_model=Enqueued)
async def upload_documents(
    corpus: CorpusDep, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    async with receive_parts(request, container.settings.api) as parts:
        uploaded = parse_upload(parts)
        options = uploaded.options

        async def work() -> Enqueued:
            await check_queue(container, corpus)
            submitted = await submit_found(
                container, corpus, uploaded.read, options.on_conflict, token_budget=options.budget_tokens
            )
            return convert_enqueued(submitted.enqueued, submitted.rejected)

        return await run_once(request, container, key, parts.digest, work)


@upload_router.post("/estimates", dependencies=[READ])
async def estimate_upload(corpus: CorpusDep, container: ContainerDep, request: Request) -> Estimate:
    settings = corpus.settings
    async with receive_parts(request, container.settings.api) as parts:
        found = parse_upload(parts).read()
        work = estimate(container, corpus, settings.chunker, settings.extractor, found)
        result = await run_while_connected(request, work)
    return convert_estimate(result)


def parse_submissions(documents: Sequence[DocumentIn]) -> list[Submission]:
    """Returns the submissions in order.

    Raises `InvalidInput` or `UnsupportedMedia` with the index of the first wrong document.
    """
    submissions = []
    for index, document in enumerate(documents):
        try:
            submissions.append(_parse_submission(document))
        except InvalidInput as error:
            raise InvalidInput(f"documents[{index}]: {error}") from error
        except UnsupportedMedia as error:
            raise UnsupportedMedia(f"documents[{index}]: {error}") from error
    return submissions


def _parse_submission(document: DocumentIn) -> Submission:
    if document.media_type is None and document.content is None:
        return submission_from_json(document.model_dump(exclude_unset=True, exclude={"media_type", "content"}))
    if document.media_type is None:
        raise InvalidInput("a document with `content` needs a `media_type`, such as 'application/pdf'")
    if document.chunks is not None or document.entities or document.triples or document.embedding is not None:
        raise InvalidInput(
            "a document with `media_type` is loaded from `text` or `content`; leave `chunks`, `entities`, `triples` "
            "and `embedding` out, or leave `media_type` out"
        )
    return make_submission(
        _read_content(document),
        key=document.key,
        media_type=document.media_type,
        title=document.title,
        metadata=document.metadata,
        access=None if document.access is None else tuple(document.access),
    )


def _read_content(document: DocumentIn) -> bytes:
    if (document.text is None) == (document.content is None):
        found = "neither" if document.text is None else "both"
        raise InvalidInput(f"a document with `media_type` has either `text` or `content`; this one has {found}")
    if document.content is None:
        return _encode(document.text or "")
    try:
        return base64.b64decode(document.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"`content` is not Base64: {error}") from error


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"`text` holds half of a surrogate pair at character {error.start}; remove it") from error


router = APIRouter(prefix="/v1/corpora/{corpus}/documents", tags=["documents"])


@router.post(
    "",
    dependencies=[WRITE],
    summary="Submit documents",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Enqueued,
    openapi_extra=describe_upload(),
)
async def add_documents(
    corpus: CorpusDep, body: DocumentsIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    """A worker indexes them; the job at `Location` shows the progress."""
    tokens = body.budget.tokens if body.budget else None
    submissions = parse_submissions(body.documents)

    async def work() -> Enqueued:
        await check_queue(container, corpus)
        enqueued = await submit(container, corpus, submissions, body.on_conflict, token_budget=tokens)
        return convert_enqueued(enqueued)

    return await run_once(request, container, key, content_hash(await request.body()), work)


@dataclass(frozen=True, kw_only=True)
class _ListQuery:
    """The parameters of a list."""

    key: str | None = None
    state: RevisionState | None = None
    filter: FilterText = None
    enabled: Annotated[bool | None, Query(description="Only documents that are enabled, or that are not.")] = None
    limit: Annotated[int, Query(ge=1, le=200)] = 50
    cursor: str | None = None


@router.get("", dependencies=[READ], summary="List documents, by key", response_model=DocumentList)
async def list_documents(
    corpus: CorpusDep, container: ContainerDep, query: Annotated[_ListQuery, Depends()]
) -> Response:
    enabled = None if query.enabled is None else str(query.enabled)
    scope = ("documents", corpus.id, query.key, query.state, query.filter, enabled)
    selected: dict[str, Any] = {"key": query.key, "state": query.state, "enabled": query.enabled}
    selected |= {"limit": query.limit, "cursor": decode_cursor(query.cursor, *scope)}
    if query.filter is None:
        page = await container.record.documents.list(corpus.id, **selected)
    else:
        where = parse_filter(parse_filter_parameter(query.filter))
        page = await list_matching(container, corpus, where, **selected)
    register = await open_register(container, corpus)
    documents = tuple(
        fill(Document, document, validity=convert_validity(find_validity(register, document.id)))
        for document in page.data
    )
    return json_response(DocumentList(data=documents, next_cursor=encode_cursor(page.next_cursor, *scope)))


@router.post(
    "/delete",
    dependencies=[WRITE],
    summary="Delete documents by key or filter",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Deletion,
)
async def delete_several(
    corpus: CorpusDep, body: DeleteIn, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    """Keys that no document has are `missing` in the response, and the others are deleted."""

    async def work() -> Deletion:
        if body.keys is None:
            return convert_deletion(await delete_matching(container, corpus, parse_filter(body.filter or {})))
        return convert_deletion(*await delete_by_keys(container, corpus, body.keys))

    return await run_json_once(request, container, key, work)


@router.post("/access", dependencies=[WRITE], summary="Say who may see documents, by key or filter")
async def change_access(corpus: CorpusDep, body: AccessChangeIn, container: ContainerDep) -> AccessChange:
    """It takes effect before the response, and in every process within three seconds. Nothing is embedded."""
    access = None if body.access is None else tuple(body.access)
    if body.keys is None:
        changed = await set_access_matching(container, corpus, parse_filter(body.filter or {}), access)
        return AccessChange(documents=changed, missing=())
    changed, missing = await set_access_by_keys(container, corpus, body.keys, access)
    return AccessChange(documents=changed, missing=tuple(missing))


@router.get("/{id}", dependencies=[READ], summary="One document")
async def show_document(corpus: CorpusDep, id: str, container: ContainerDep) -> DocumentDetail:
    document = await container.record.documents.get(corpus.id, id)
    return fill(
        DocumentDetail,
        document,
        pages=await count_pages(container, corpus, document),
        page_images=can_be_drawn(document),
        validity=convert_validity(find_validity(await open_register(container, corpus), id)),
    )


@router.patch(
    "/{id}",
    dependencies=[WRITE],
    summary="Change, enable or disable a document, or who may see it",
    status_code=HTTPStatus.ACCEPTED,
)
async def change(
    corpus: CorpusDep, id: str, body: DocumentPatchIn, container: ContainerDep, response: Response
) -> Enqueued:
    """A title or metadata make a new revision with the same content. New metadata cost no embedding; a new title does,
    as it is embedded. 409 unless the newest revision is indexed.

    `enabled` and `access` take effect before the response. Alone they make no revision, and the job is empty and done.
    """
    enqueued = await patch_document(
        container,
        corpus,
        id,
        body.apply if body.makes_revision else None,
        enabled=body.enabled,
        access=body.new_access if body.sets_access else ...,
    )
    set_job_location(response, enqueued.job.id)
    return convert_enqueued(enqueued)


@router.delete("/{id}", dependencies=[WRITE], summary="Delete a document", status_code=HTTPStatus.ACCEPTED)
async def delete_document(corpus: CorpusDep, id: str, container: ContainerDep, response: Response) -> Started:
    """It is invisible at once; the job deletes the facts and entities that only this document stated.

    The same request returns the same job while it runs, then a 404.
    """
    job = await delete_one_document(container, corpus, id)
    set_job_location(response, job.id)
    return convert_started(job)


@router.post(
    "/{id}/retry",
    dependencies=[WRITE],
    summary="Retry a failed document",
    status_code=HTTPStatus.ACCEPTED,
    response_model=Started,
)
async def retry_document(
    corpus: CorpusDep, id: str, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    async def work() -> Started:
        return convert_started(await retry(container, corpus, id))

    return await run_json_once(request, container, key, work)


estimate_router = APIRouter(prefix="/v1/corpora/{corpus}/estimates", tags=["documents"])


@estimate_router.post(
    "", dependencies=[READ], summary="Estimate the cost of documents", openapi_extra=describe_upload()
)
async def estimate_documents(
    corpus: CorpusDep, body: DocumentsIn, container: ContainerDep, request: Request
) -> Estimate:
    """The body is that of submitting documents. Nothing is written, and no model is called."""
    settings = corpus.settings
    found = parse_submissions(body.documents)
    work = estimate(container, corpus, settings.chunker, settings.extractor, found)
    return convert_estimate(await run_while_connected(request, work))

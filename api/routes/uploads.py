"""The routes that take files: documents to index, and documents to estimate, as `multipart/form-data`.

They have the paths of the routes that take JSON, and come before them.
"""

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from api.access.scopes import READ, WRITE
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep
from api.idempotency import IdempotencyKey, run_once
from api.schemas.documents import EnqueuedOut
from api.schemas.estimates import EstimateOut
from api.uploads.documents import parse_upload
from api.uploads.parts import receive_parts
from api.uploads.routing import UploadRoute
from app.services.estimates import estimate
from app.services.ingestion import check_queue, submit_found

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", route_class=UploadRoute, include_in_schema=False)


@router.post("/documents", dependencies=[WRITE], status_code=HTTPStatus.ACCEPTED, response_model=EnqueuedOut)
async def upload_documents(
    corpus: CorpusDep, container: ContainerDep, request: Request, key: IdempotencyKey = None
) -> Response:
    async with receive_parts(request, container.settings.api) as parts:
        uploaded = parse_upload(parts)
        options = uploaded.options

        async def work() -> EnqueuedOut:
            await check_queue(container, corpus)
            submitted = await submit_found(
                container, corpus, uploaded.read, options.on_conflict, token_budget=options.budget_tokens
            )
            return EnqueuedOut.from_job(submitted.enqueued, submitted.rejected)

        return await run_once(request, container, key, parts.digest, work)


@router.post("/estimates", dependencies=[READ])
async def estimate_upload(corpus: CorpusDep, container: ContainerDep, request: Request) -> EstimateOut:
    settings = corpus.settings
    async with receive_parts(request, container.settings.api) as parts:
        found = parse_upload(parts).read()
        work = estimate(container, corpus, settings.chunker, settings.extractor, found)
        result = await run_while_connected(request, work)
    return EstimateOut.model_validate(result)

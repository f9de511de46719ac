"""The route that estimates the cost of indexing documents."""

from fastapi import APIRouter, Request

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep
from api.schemas.documents import DocumentsIn
from api.schemas.estimates import EstimateOut
from api.submissions import parse_submissions
from api.uploads.routing import describe_upload
from app.services.estimates import estimate

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/estimates", tags=["documents"])


@router.post("", dependencies=[READ], summary="Estimate the cost of documents", openapi_extra=describe_upload())
async def estimate_documents(
    corpus: CorpusDep, body: DocumentsIn, container: ContainerDep, request: Request
) -> EstimateOut:
    """The body is that of submitting documents. Nothing is written, and no model is called."""
    settings = corpus.settings
    found = parse_submissions(body.documents)
    work = estimate(container, corpus, settings.chunker, settings.extractor, found)
    return EstimateOut.model_validate(await run_while_connected(request, work))

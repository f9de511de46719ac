"""What handing in documents would cost."""

from fastapi import APIRouter

from api.deps import ContainerDep, CorpusDep
from api.schemas.documents import DocumentsIn
from api.schemas.estimates import EstimateOut
from api.submissions import submissions
from app.services.estimates import estimate

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/estimates", tags=["documents"])


@router.post("", summary="Tell what documents would cost")
async def estimate_documents(corpus: CorpusDep, body: DocumentsIn, container: ContainerDep) -> EstimateOut:
    """The body is that of handing them in; nothing is written, and no model is asked."""
    settings = corpus.settings
    told = await estimate(container, corpus, settings.chunker, settings.extractor, submissions(body.documents))
    return EstimateOut.model_validate(told)

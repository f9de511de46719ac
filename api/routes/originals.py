"""The routes of originals: the bytes that were sent, and the text of a page that is loaded from them."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Response

from api.access.scopes import READ
from api.deps import ContainerDep, CorpusDep, json_response
from api.schemas.documents import PageOut
from app.services.documents import load_page
from core.documents import is_media_type

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/documents/{id}", tags=["documents"])

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
"""No browser may run the content of a document, whatever its type."""

_UNKNOWN = "application/octet-stream"
"""What is sent for a stored media type that no header can hold."""


@router.get("/content", dependencies=[READ], summary="The original bytes", response_class=Response)
async def document_content(corpus: CorpusDep, id: str, container: ContainerDep) -> Response:
    """An attachment of the document's media type."""
    document = await container.record.documents.get(corpus.id, id)
    content = await container.files.get(corpus.id, document.content_hash)
    name = quote(document.key.replace("\\", "/").rsplit("/", 1)[-1], safe="")
    headers = {**_HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    media_type = document.media_type if is_media_type(document.media_type) else _UNKNOWN
    return Response(content, media_type=media_type, headers=headers)


@router.get("/pages/{page}", dependencies=[READ], summary="The text of a page", response_model=PageOut)
async def document_page(
    corpus: CorpusDep, id: str, page: Annotated[int, Path(ge=1)], container: ContainerDep
) -> Response:
    """The text as the loader reads it from the original. A document without pages has page 1."""
    text = await load_page(container, corpus, id, page)
    return json_response(PageOut(document_id=id, page=page, text=text))

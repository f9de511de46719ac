"""The routes of originals: the bytes that were sent, and from them the text of a page, and a page as an image."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep, json_response
from api.schemas.documents import PageOut
from app.services.documents import check_drawable, draw_page, load_page
from core.documents import Document, is_media_type
from core.ids import content_hash
from core.passage_context import find_page_label

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/documents/{id}", tags=["documents"])

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
"""No browser may run the content of a document, whatever its type."""

_UNKNOWN = "application/octet-stream"
"""What is sent for a stored media type that no header can hold."""

_DRAWING = "1"
"""Changes whenever the same page is drawn in another way, so that browsers ask for it again."""


@dataclass(frozen=True, kw_only=True)
class _ImageQuery:
    """The parameters of an image, and the tag of the image that the client has."""

    width: Annotated[int, Query(ge=100, le=2000, description="The width of the image, in pixels.")] = 900
    mark: Annotated[str, Query(max_length=4000, description="A text whose words are highlighted.")] = ""
    if_none_match: Annotated[str, Header()] = ""


_IMAGE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The image",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "X-Pages": {"schema": {"type": "integer"}, "description": "The number of pages of the file."},
            "X-Marked": {"schema": {"type": "integer"}, "description": "How many characters of `mark` were found."},
            "ETag": {"schema": {"type": "string"}},
        },
    },
    304: {"description": "The image that the client has, as `If-None-Match` names it, is the present one."},
}


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
    corpus: CorpusDep, id: str, page: Annotated[int, Path(ge=1)], container: ContainerDep, request: Request
) -> Response:
    """The text as the loader reads it from the original. A document without pages has page 1."""
    text = await run_while_connected(request, load_page(container, corpus, id, page))
    document = await container.record.documents.get(corpus.id, id)
    label = find_page_label(document.metadata, page)
    return json_response(PageOut(document_id=id, page=page, page_label=label, text=text))


@router.get(
    "/pages/{page}/image",
    dependencies=[READ],
    summary="A page as an image",
    response_class=Response,
    responses=_IMAGE,
)
async def document_page_image(
    corpus: CorpusDep,
    id: str,
    page: Annotated[int, Path(ge=1)],
    container: ContainerDep,
    request: Request,
    query: Annotated[_ImageQuery, Depends()],
) -> Response:
    """A PNG of a page of a PDF file; 415 for any other document. It is narrower than `width` if it has more than eight
    million pixels then.
    """
    document = await container.record.documents.get(corpus.id, id)
    check_drawable(document)
    tag = _tag_of(document, page, query.width, query.mark)
    headers = {**_HEADERS, "Cache-Control": "private, no-cache", "ETag": tag}
    if tag in (one.strip().removeprefix("W/") for one in query.if_none_match.split(",")):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    drawing = draw_page(container, corpus, document, page, width=query.width, mark=query.mark)
    drawn = await run_while_connected(request, drawing)
    headers |= {"X-Pages": str(drawn.pages), "X-Marked": str(drawn.marked)}
    return Response(drawn.png, media_type="image/png", headers=headers)


def _tag_of(document: Document, *parts: object) -> str:
    """Returns the entity tag of what is drawn from the content of a document."""
    drawn = "\n".join(map(str, (_DRAWING, document.content_hash, *parts)))
    return f'"{content_hash(drawn.encode("utf-8", "surrogatepass"))[:32]}"'

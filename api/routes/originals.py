"""The routes of what a document holds: its original, its pages and its passages.

A page is shown as text, or as an image that is drawn from the original. A passage is shown with its neighbours.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

from api.access.keys import READ
from api.cursors import check_position, decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, Limit, json_response, run_while_connected
from api.schemas.base import Text
from api.schemas.validity import convert_differences
from api.schemas.values import fill, fill_all
from app.services.documents import check_drawable, draw_page, list_chunks_of_page, load_page
from app.services.validity import compare_documents
from core.documents import MAX_KEY_LENGTH, Document, is_media_type
from core.errors import NotFound
from core.ids import content_hash
from core.passage_context import find_page_label
from hopweave.wire.documents import Chunk, ChunkList, NeighbouringChunk, PageText
from hopweave.wire.validity import DocumentDifferences
from indexer import LAST_PAGE

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


@router.get("/pages/{page}", dependencies=[READ], summary="The text of a page", response_model=PageText)
async def document_page(
    corpus: CorpusDep, id: str, page: Annotated[int, Path(ge=1)], container: ContainerDep, request: Request
) -> Response:
    """The text as the loader reads it from the original. A document without pages has page 1."""
    text = await run_while_connected(request, load_page(container, corpus, id, page))
    document = await container.record.documents.get(corpus.id, id)
    label = find_page_label(document.metadata, page)
    return json_response(PageText(document_id=id, page=page, page_label=label, text=text))


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


@router.get(
    "/differences",
    dependencies=[READ],
    summary="What changed since another document",
    response_model=DocumentDifferences,
)
async def document_differences(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    request: Request,
    since: Annotated[
        Text | None,
        Query(
            max_length=MAX_KEY_LENGTH,
            description="The key or the id of the older document; if unset, the only one that this one supersedes.",
        ),
    ] = None,
) -> Response:
    """Clauses are matched by heading, number and the words that they have in common."""
    document = await container.record.documents.get(corpus.id, id)
    found = await run_while_connected(request, compare_documents(container, corpus, document.id, since))
    return json_response(convert_differences(found))


def _tag_of(document: Document, *parts: object) -> str:
    """Returns the entity tag of what is drawn from the content of a document."""
    drawn = "\n".join(map(str, (_DRAWING, document.content_hash, *parts)))
    return f'"{content_hash(drawn.encode("utf-8", "surrogatepass"))[:32]}"'


chunk_router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["chunks"])


@dataclass(frozen=True, kw_only=True)
class _ListQuery:
    """The parameters of a list."""

    page: Annotated[int | None, Query(ge=0, le=LAST_PAGE, description="Only the passages of this page.")] = None
    start: Annotated[int, Query(ge=0, le=LAST_PAGE, description="Only passages from this `position` on.")] = 0
    limit: Limit = 50
    cursor: str | None = None


@chunk_router.get(
    "/documents/{id}/chunks",
    dependencies=[READ],
    summary="A document's passages, in order",
    response_model=ChunkList,
)
async def list_chunks(
    corpus: CorpusDep,
    id: str,
    container: ContainerDep,
    query: Annotated[_ListQuery, Depends()],
) -> Response:
    document = await container.record.documents.get(corpus.id, id)
    page, limit = query.page, query.limit
    scope = ("chunks", corpus.id, document.id, None if page is None else str(page), str(query.start))
    after = int(decode_cursor(query.cursor, *scope, check=check_position) or query.start - 1)
    if page is None:
        chunks = await container.record.contents.get_chunks_of(corpus.id, document.id, after=after, limit=limit + 1)
    else:
        chunks = await list_chunks_of_page(container, corpus, document, page, after=after, limit=limit + 1)
    last = str(chunks[limit - 1].position) if len(chunks) > limit else None
    data = fill_all(Chunk, chunks[:limit])
    return json_response(ChunkList(data=data, next_cursor=encode_cursor(last, *scope)))


@chunk_router.get("/chunks/{id}", dependencies=[READ], summary="One passage with its neighbours")
async def show_chunk(corpus: CorpusDep, id: str, container: ContainerDep) -> NeighbouringChunk:
    near = (await container.record.contents.get_surroundings(corpus.id, [id], 1)).get(id, [])
    places = {chunk.position: chunk for chunk in near}
    found = next((chunk for chunk in near if chunk.id == id), None)
    if found is None:
        raise NotFound(f"there is no passage with the id {id!r} in corpus {corpus.name!r}")
    before, after = places.get(found.position - 1), places.get(found.position + 1)
    return fill(
        NeighbouringChunk,
        found,
        previous=None if before is None else fill(Chunk, before),
        next=None if after is None else fill(Chunk, after),
    )

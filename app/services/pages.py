"""Pages of documents: as images, how many there are, and the passages of one."""

from functools import partial
from typing import TYPE_CHECKING

from core.corpora import Corpus
from core.documents import Chunk, Document
from core.errors import UnsupportedMedia

if TYPE_CHECKING:
    from app.container import Container
    from indexer import DrawnPage

__all__ = ["can_be_drawn", "check_drawable", "count_pages", "draw_page", "list_chunks_of_page"]


def can_be_drawn(document: Document) -> bool:
    """Returns whether there are images of the document's pages."""
    from indexer import has_page_images  # imports all that indexes, which takes longer than listing documents

    return has_page_images(document.media_type)


def check_drawable(document: Document) -> None:
    """Raises `UnsupportedMedia` if there are no images of the document's pages."""
    if not can_be_drawn(document):
        raise UnsupportedMedia(
            f"document {document.key!r} has no images of its pages: only PDF files have; "
            "the text of a page is at …/pages/{page}"
        )


async def draw_page(
    container: "Container", corpus: Corpus, document: Document, number: int, *, width: int, mark: str
) -> "DrawnPage":
    """Draws a page from the original, `width` pixels wide, with the words of `mark` highlighted.

    Raises `NotFound` if there is no such page, `LoadFailed` if the file is damaged, and `UnsupportedMedia`.
    """
    check_drawable(document)
    read = partial(container.files.get, corpus.id, document.content_hash)
    return await container.page_images.draw(document.key, read, number, width=width, mark=mark, caller=container.caller)


async def count_pages(container: "Container", corpus: Corpus, document: Document) -> int | None:
    """Returns the number of the last page that has a passage, or None if the passages have no pages."""
    last = await container.record.contents.get_chunks_of(corpus.id, document.id, after=document.chunks - 2, limit=1)
    return last[0].page if last else None


async def list_chunks_of_page(
    container: "Container", corpus: Corpus, document: Document, page: int, *, after: int, limit: int
) -> list[Chunk]:
    """Returns the first `limit` chunks of a page after the position `after`.

    The pages of a document that a loader has read ascend, so that the first chunk is found by halving.
    """
    read = container.record.contents.get_chunks_of
    low, high = after + 1, max(document.chunks, after + 1)
    while low < high:
        middle = (low + high) // 2
        found = await read(corpus.id, document.id, after=middle - 1, limit=1)
        if found and (found[0].page or 0) < page:
            low = middle + 1
        else:
            high = middle
    chunks = await read(corpus.id, document.id, after=low - 1, limit=limit)
    return [chunk for chunk in chunks if chunk.page == page]

"""Rules of pages: a cursor is the key of the last document of a page."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from core.documents import Document
from core.ports.record.documents import DocumentPage

__all__ = ["make_page"]

Row = TypeVar("Row")


def make_page(rows: Sequence[Row], limit: int, load: Callable[[Row], Document]) -> DocumentPage:
    """Makes a page of at most `limit` documents. `rows` are one more if there are more documents."""
    data = tuple(load(row) for row in rows[:limit])
    return DocumentPage(data=data, next_cursor=data[-1].key if data and len(rows) > limit else None)

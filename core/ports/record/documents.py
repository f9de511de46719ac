"""The port of documents as readers see them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.documents import Document, DocumentRef, RevisionState
from core.filters import DocumentFilter

__all__ = ["DocumentPage", "Documents"]


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """`next_cursor` is None on the last page."""

    data: tuple[Document, ...]
    next_cursor: str | None


class Documents(Protocol):
    """Documents that are not being deleted. `enabled` restricts to those that are enabled, or to those that are not.

    A document that is submitted again while it is deleted is there again at once, unfinished and not readable, with the
    title, metadata and content of the submission. If that fails or is cancelled, the deletion is carried out.
    """

    async def list(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
        enabled: bool | None = None,
    ) -> DocumentPage:
        """Returns at most `limit` documents by key, ascending (code points), after `cursor`."""
        ...

    async def get(self, corpus_id: str, document_id: str) -> Document:
        """Raises `NotFound`."""
        ...

    async def match(self, corpus_id: str, where: DocumentFilter, *, enabled: bool | None = True) -> frozenset[str]:
        """Returns the ids of the readable documents that match."""
        ...

    async def get_refs(
        self, corpus_id: str, document_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, DocumentRef]:
        """Returns readable documents by id. Unknown ids are left out."""
        ...

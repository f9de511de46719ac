"""Views: what can be derived again from the record. They answer with ids; who reads drops those the record lacks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.ports.embedding import Vectors
from core.text.query import TextQuery

__all__ = ["Scored", "TextEntry", "TextIndex", "VectorBatch", "VectorKind", "VectorStore"]


class VectorKind(StrEnum):
    CHUNK = "chunk"
    ENTITY = "entity"
    FACT = "fact"


@dataclass(frozen=True, kw_only=True)
class VectorBatch:
    """Rows to write: `ids[i]` has `vectors[i]` and belongs to document `documents[i]` ('' for entities and facts)."""

    ids: Sequence[str]
    documents: Sequence[str]
    vectors: Vectors


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """One answer of a view. The score orders answers of one search; for vectors it is the cosine."""

    id: str
    score: float


class VectorStore(Protocol):
    """Exact or approximate nearest neighbours, per corpus and kind.

    An unknown corpus is an empty one. Unknown ids are ignored by `delete` and left out by `fetch`. `search` returns at
    most `k` rows, best first, ties by id; `k` below 1 gives none; `documents` restricts to rows of these documents (an
    empty collection gives none, None does not restrict). What `write` has returned from is found by every later search
    of this process, and within two seconds by those of others.
    """

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        """Insert or replace by id. Raises `InvalidInput` where the dimension is not that of the rows there."""
        ...

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        """Those of `ids` that have no row. One that another process deleted before is never taken for present."""
        ...

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]: ...

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """For each row of `vectors`, shape (n, dimension): all stored rows with a cosine of at least `threshold`.

        Ordered as by `search`. Sees what any process had written before.
        """
        ...

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]: ...

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None: ...

    async def drop(self, corpus_id: str) -> None:
        """Remove all rows of a corpus, of every kind."""
        ...

    async def count(self, corpus_id: str, kind: VectorKind) -> int: ...

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """All ids that there are, in any order."""
        ...

    async def check(self) -> str:
        """What answers, such as `Milvus 2.3.5`. Raises `Unavailable` or `InvalidSettings`."""
        ...


@dataclass(frozen=True, kw_only=True)
class TextEntry:
    """One chunk's searchable text (title, heading and text, joined by line ends)."""

    id: str
    document_id: str
    text: str


class TextIndex(Protocol):
    """Full-text search with the engine's own BM25: lower case, no stemmer, no stop words, CJK as single characters.

    Edge cases as in `VectorStore`. A query without a positive clause that holds a word gives nothing.
    """

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        """Insert or replace by id."""
        ...

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        """Those of `ids` that have no entry."""
        ...

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]: ...

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None: ...

    async def drop(self, corpus_id: str) -> None: ...

    async def count(self, corpus_id: str) -> int: ...

    async def ids(self, corpus_id: str) -> list[str]:
        """All ids that there are, in any order."""
        ...

    async def check(self) -> str:
        """What answers. Raises `Unavailable` or `InvalidSettings`."""
        ...

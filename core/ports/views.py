"""The ports of views, which are derived from the record: vector store and text index.

Views answer with ids; readers drop ids that the record does not have.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.ports.embedding import Vectors
from core.text.query import TextQuery


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
    """One result of a view. The score orders the results of one search; for vectors it is the cosine."""

    id: str
    score: float


class VectorStore(Protocol):
    """Exact or approximate nearest neighbours, by corpus and kind.

    An unknown corpus is an empty one. Unknown ids are ignored by `delete` and left out by `fetch`. `search` returns at
    most `k` rows, best first, ties by id; `k` below 1 gives none; `documents` restricts to rows of these documents (an
    empty collection gives none, None does not restrict). What `write` has returned from is found by each later search
    of this process, and within two seconds by searches of other processes.
    """

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        """Inserts rows, or replaces rows with the same id. Raises `InvalidInput` if the dimension differs from the
        existing rows.
        """
        ...

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        """Returns the `ids` that have no row. A row that another process deleted before counts as missing."""
        ...

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]: ...

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """Returns, for each row of `vectors` (n, dimension), all stored rows with a cosine of at least `threshold`.

        They are ordered as by `search`. Everything that any process wrote before is found.
        """
        ...

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]: ...

    async def await_writes(self, corpus_id: str) -> None:
        """After this call, searches of this process find all that any process wrote into the corpus before it."""
        ...

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None: ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes all rows of a corpus, of every kind."""
        ...

    async def count(self, corpus_id: str, kind: VectorKind) -> int: ...

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """Returns all ids, in any order."""
        ...

    async def check(self) -> str:
        """Returns the product and its version, such as `Milvus 2.3.5`. Raises `Unavailable` or `InvalidSettings`."""
        ...


@dataclass(frozen=True, kw_only=True)
class TextEntry:
    """The searchable text of one chunk: title, heading and text, joined by line breaks."""

    id: str
    document_id: str
    text: str


class TextIndex(Protocol):
    """Full-text search with the engine's BM25: lower case, no stemmer, no stop words, CJK as single characters.

    Edge cases as in `VectorStore`. A query gives nothing if no positive clause contains a word.
    """

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        """Inserts entries, or replaces entries with the same id."""
        ...

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        """Returns the `ids` that have no entry."""
        ...

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]: ...

    async def find_few(
        self, corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        """Returns for each query the ids of all entries that it matches, in any order; none if it matches more entries
        than the number given with it. All queries together cost little more than one search.

        With many `documents`, a query that a thousand entries of others match may also give none.
        """
        ...

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None: ...

    async def delete_corpus(self, corpus_id: str) -> None: ...

    async def count(self, corpus_id: str) -> int: ...

    async def ids(self, corpus_id: str) -> list[str]:
        """Returns all ids, in any order."""
        ...

    async def check(self) -> str:
        """Returns the product and its version. Raises `Unavailable` or `InvalidSettings`."""
        ...

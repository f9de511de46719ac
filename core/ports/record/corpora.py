"""The ports of corpora and of what readers see in them.

- `Corpora`, by name, and `Reindexing`: shadow corpora, which are built beside a corpus and then take its name.
- `Documents` as readers see them, and their `Contents`: chunks, entities, facts and triples.
- `Exporter`: everything that readers see of a corpus, as rows.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.graph import Entity
from core.jobs import Job
from core.ports.record.queue import NewRevision


class Corpora(Protocol):
    """Corpora by name. A deleted corpus is invisible at once; a shadow corpus is invisible until it is swapped in."""

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        """Raises `Conflict` if the name is taken, and `InvalidInput` if it is not a valid name."""
        ...

    async def get(self, name: str) -> Corpus:
        """Raises `NotFound`, naming the corpora that exist."""
        ...

    async def get_by_id(self, corpus_id: str) -> Corpus:
        """Raises `NotFound`. Returns corpora without a name, too (deleted ones and shadows): workers need them."""
        ...

    async def list(self) -> Sequence[Corpus]:
        """Returns the corpora that have a name, by name."""
        ...

    async def rename(self, name: str, new_name: str) -> Corpus:
        """Raises `NotFound` as `get` does, and `Conflict` or `InvalidInput` as `create` does."""
        ...

    async def delete(self, name: str) -> Job:
        """Makes the corpus invisible, frees its name, cancels its work, and queues the deletion of everything in it.

        A shadow corpus of it is deleted, too.
        """
        ...

    async def count(self, corpus_id: str) -> CorpusCounts:
        """Counts what readers see."""
        ...


@dataclass(frozen=True, kw_only=True)
class Reindex:
    """A reindexing in progress: the corpus in use, its shadow corpus, and the open job of kind `reindex`."""

    corpus_id: str
    shadow_id: str
    job_id: str


@dataclass(frozen=True, kw_only=True)
class ReindexDifference:
    """The revisions that the shadow corpus lacks, and the ids of the documents that it has and the corpus has not."""

    revisions: tuple[NewRevision, ...]
    document_ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.revisions or self.document_ids)


class Reindexing(Protocol):
    """Shadow corpora. A shadow corpus has no name and is invisible until `swap` gives it the name of the other."""

    async def start(self, corpus_id: str, settings: CorpusSettings) -> Reindex:
        """Creates an empty shadow corpus and its open job of kind `reindex`.

        Raises `Conflict` if the corpus has a shadow corpus already.
        """
        ...

    async def list(self) -> Sequence[Reindex]:
        """Returns all reindexings in progress, oldest first."""
        ...

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        """Returns how the shadow corpus differs from the corpus: at most `limit` revisions and `limit` documents.

        The newest revision of each document counts, whether it is readable, in work or failed, unless it is a deletion.
        """
        ...

    async def swap(self, corpus_id: str) -> Job | None:
        """Gives the name of the corpus to its shadow corpus, closes the `reindex` job, and deletes the corpus.

        The shadow corpus must be complete: it has the newest revision of each document of the corpus and no other
        document, and each is indexed, or is readable in neither. Otherwise returns None and changes nothing. Returns
        the job that deletes the rows of the old corpus.
        """
        ...

    async def cancel(self, corpus_id: str) -> Job | None:
        """Deletes the shadow corpus and cancels its job. Returns None if there is none."""
        ...


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """`next_cursor` is None on the last page."""

    data: tuple[Document, ...]
    next_cursor: str | None


class Documents(Protocol):
    """Documents that are not being deleted. `enabled` restricts to enabled documents, or to the others.

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

    async def list_dated(self, corpus_id: str) -> Mapping[str, DocumentRef]:
        """Returns the readable and enabled documents whose metadata may state something on their validity
        (`core.validity.is_dated`), by id. Others are not read. Nobody changes the mapping: it is returned again until
        a document changes.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class FactRow:
    """A fact with the names to show it by."""

    id: str
    chunk_id: str
    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str


@dataclass(frozen=True, kw_only=True)
class TripleRow:
    """A triple with the names to show it by, and the ids of the chunks that assert it, ascending."""

    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str
    chunk_ids: tuple[str, ...]


class Contents(Protocol):
    """Contents of current revisions of documents that are enabled and not being deleted. Unknown ids are left out."""

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]: ...

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        """Returns the chunks of a document, enabled or not, by position: all, or the first `limit`
        after the position `after`.
        """
        ...

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        """Returns, by id, each chunk with the chunks of its document that are at most `distance` positions away.

        The chunks of a list are of one revision, by position.
        """
        ...

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        """Returns chunks by `view_id`, also of documents that are not enabled.

        Leaves out entries that the views hold and the record does not.
        """
        ...

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]: ...

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        """Returns the facts that these chunks assert, by (chunk id, fact id)."""
        ...

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        """Returns the triples that a readable chunk asserts, by id; with `enabled=None`, a chunk of any document."""
        ...


class Exporter(Protocol):
    """Rows that can be written as JSON, in a fixed order, all of one generation.

    A caller that may stop early closes the generator (`contextlib.aclosing`).
    """

    def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, object]]:
        """Yields documents, then chunks, entities, mentions and facts, each by id, then merges, rejections, the
        threshold for merging, and the schema. `kind` names the kind of a row.

        A document that is not enabled has `enabled`: false. A merge has `from_id`, `from_name`, `into_id` and
        `into_name`; they are ordered by `from_id`. A rejection has `first_id` < `second_id`, which give the order; if
        `canonical`, only rejections whose entities are both among the rows. The one row `threshold` has `merge_above`,
        the one row `schema` has `text`; without a threshold or a schema there is none. If not `canonical`, also yields
        what another store needs to continue: in the row of a document `size`, `fingerprint`, `given_title` (the title
        in its submission, or null) and `given_metadata` (the metadata in its submission), and after the schema the
        synonyms (`first_id`, `second_id`, `score`) and the extractions (`document_id`, `extract_hash`, `payload`: an
        object, see `stores.record_rows`), each in the order of their ids.
        """
        ...

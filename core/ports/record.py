"""The record: the one place that is never derived from another. Several small ports over one database.

The contract (ARCHITECTURE.md) in short: every write is idempotent; a reader sees a revision whole or not at all; a
worker's writes are fenced by the epoch of its claim; each committed write raises the corpus' generation and logs what
changed.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.documents import Chunk, Document, DocumentRef, Metadata, OnConflict, RevisionState
from core.filters import DocumentFilter
from core.graph import Entity, Extraction, Fact, Mention, Synonym
from core.jobs import Job, JobKind

__all__ = [
    "Claim",
    "Commit",
    "Corpora",
    "DocumentPage",
    "Enqueued",
    "EnqueuedDocument",
    "Exporter",
    "FactRow",
    "GraphChanges",
    "GraphRows",
    "GraphSource",
    "Intake",
    "Jobs",
    "Library",
    "NewRevision",
    "Outcome",
    "Record",
    "Staged",
    "Tombstone",
    "WorkQueue",
]


# --- corpora ---------------------------------------------------------------------------------------------------------


class Corpora(Protocol):
    """Corpora by name. A dropped corpus is invisible at once."""

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        """Raises `Conflict` where the name is taken, `InvalidInput` where it is no name."""
        ...

    async def get(self, name: str) -> Corpus:
        """Raises `NotFound`, naming the corpora that there are."""
        ...

    async def by_id(self, corpus_id: str) -> Corpus:
        """Raises `NotFound`. Sees corpora that are being dropped, too: workers need them."""
        ...

    async def all(self) -> list[Corpus]:
        """By name."""
        ...

    async def rename(self, name: str, new_name: str) -> Corpus: ...

    async def drop(self, name: str) -> Job:
        """Make the corpus invisible, free its name, cancel its work, and queue the removal of everything in it."""
        ...

    async def counts(self, corpus_id: str) -> CorpusCounts: ...


# --- intake ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NewRevision:
    """A submission whose bytes are kept; `fingerprint` covers all that makes a revision differ from another."""

    key: str
    media_type: str
    content_hash: str
    size: int
    fingerprint: str
    title: str | None
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """`state` is that of the newest revision; `unchanged` and `skipped` submissions made none."""

    id: str
    key: str
    state: RevisionState
    unchanged: bool = False
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    job: Job
    documents: tuple[EnqueuedDocument, ...]


class Intake(Protocol):
    """Turns submissions and deletions into queued revisions."""

    async def enqueue(
        self, corpus_id: str, revisions: Sequence[NewRevision], on_conflict: OnConflict, *, job_id: str | None = None
    ) -> Enqueued:
        """One transaction. A key twice in one call is `InvalidInput`, naming it.

        A submission whose fingerprint is that of the newest revision is `unchanged` if that is indexed; if it is
        unfinished, it moves to this job: who asked last waits for it, and who asked first may be dead.
        With `on_conflict=error`, `Conflict` lists the keys and nothing is written. An unfinished older revision is
        cancelled with reason `superseded`. `job_id` adds to a job that `open_job` made, else one is made.
        """
        ...

    async def open_job(self, corpus_id: str, kind: JobKind) -> str:
        """An empty job that several calls of `enqueue` fill. It is not final before `close_job`, or long silence."""
        ...

    async def close_job(self, job_id: str) -> Job: ...

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        """Make them invisible at once and queue their removal. Unknown ids raise `NotFound`; none is deleted then."""
        ...

    async def retry(self, corpus_id: str, document_id: str) -> Job:
        """Queue the newest revision again, if it failed or was cancelled; else `Conflict`."""
        ...


# --- work ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A worker's right to one revision until its lease runs out; `epoch` fences it."""

    corpus_id: str
    document_id: str
    key: str
    revision: int
    epoch: int
    deletion: bool
    media_type: str
    content_hash: str
    size: int
    title: str | None
    metadata: Metadata

    @property
    def token(self) -> tuple[str, str, int, int]:
        """What makes this claim this one: corpus, document, revision, epoch."""
        return self.corpus_id, self.document_id, self.revision, self.epoch


@dataclass(frozen=True, kw_only=True)
class Staged:
    """An extraction of one chunk's input, kept under (document id, `extract_hash`)."""

    claim: Claim
    extract_hash: str
    extraction: Extraction


@dataclass(frozen=True, kw_only=True)
class ChunkRow:
    """A chunk as it is written, and the hash of what it was extracted from (its `view_id` holds the embedded one)."""

    chunk: Chunk
    extract_hash: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A revision, whole: what becomes current in one transaction. A deletion has no chunks."""

    claim: Claim
    title: str = ""
    chunks: tuple[ChunkRow, ...] = ()
    mentions: tuple[Mention, ...] = ()
    facts: tuple[Fact, ...] = ()
    malformed_triples: int = 0


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """What the record names no more and views and files may still hold: to be deleted there, by id."""

    id: int
    corpus_id: str
    view_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    triple_ids: tuple[str, ...] = ()
    content_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`fenced` are the claims that had been lost; nothing of theirs was written.

    `tombstone` lists what the commit removed; its view entries are deleted at once, and again when `tombstones` gives
    it back (a late worker may have written them in between), after which it is cleared.
    """

    generation: int
    fenced: tuple[Claim, ...]
    tombstone: Tombstone | None


class WorkQueue(Protocol):
    """Claims with leases by the store's clock. A method that takes claims ignores those that were lost."""

    async def waiting(self) -> list[str]:
        """Ids of the corpora that have queued revisions, expired leases, due tombstones, or are to be forgotten."""
        ...

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        """The oldest claimable revisions up to `max_bytes` of content (at least one, if any is claimable).

        One that has been claimed four times without an end comes alone; after eight times it fails.
        """
        ...

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        """Extend the leases; returns the claims that were lost."""
        ...

    async def advance(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        """Show where the revisions are; returns the claims that were lost."""
        ...

    async def release(self, claims: Sequence[Claim]) -> None:
        """Hand back unfinished work; it is claimable again at once."""
        ...

    async def fail(self, claim: Claim, reason: str) -> None:
        """End a revision; the current one stays."""
        ...

    async def expire(self, *, except_worker: str | None = None) -> int:
        """Treat every lease as run out: for the one who has just taken the data folder's lock. Returns how many."""
        ...

    async def stage(self, extractions: Sequence[Staged]) -> None:
        """Keep extractions before their revision is whole: once paid for, never paid for again."""
        ...

    async def staged(self, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
        """Those of the (document id, extract hash) that are kept, of current and unfinished revisions alike."""
        ...

    async def commit(self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float) -> Outcome:
        """Make revisions of one corpus current (or gone) in one transaction, each fenced by its own epoch.

        Synonyms of which an entity does not exist afterwards are left out. The tombstone is due after `grace` seconds.
        """
        ...

    async def bury(self, corpus_id: str, documents: Sequence[str], view_ids: Sequence[str], *, grace: float) -> None:
        """Note view entries that a fenced worker wrote, to be swept after `grace` seconds if the record lacks them."""
        ...

    async def tombstones(self, corpus_id: str) -> list[Tombstone]:
        """Those that are due and whose documents have no unfinished revision, without what the record names again."""
        ...

    async def clear(self, tombstones: Sequence[Tombstone]) -> None: ...

    async def dropped(self) -> list[str]:
        """Ids of the corpora that are to be forgotten."""
        ...

    async def forget(self, corpus_id: str) -> None:
        """Remove every row of a corpus that was dropped; its views and files are gone by then."""
        ...

    async def trim(self) -> None:
        """Drop what is kept for a time only: changes older than an hour; close jobs that their makers abandoned."""
        ...


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    data: tuple[Document, ...]
    next_cursor: str | None


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


class Library(Protocol):
    """What readers see: current revisions only, nothing that is being deleted. Unknown ids are left out."""

    async def documents(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
    ) -> DocumentPage:
        """By key, ascending (code points)."""
        ...

    async def document(self, corpus_id: str, document_id: str) -> Document:
        """Raises `NotFound`."""
        ...

    async def matching(self, corpus_id: str, where: DocumentFilter) -> frozenset[str]:
        """Ids of the readable documents that match."""
        ...

    async def refs(self, corpus_id: str, document_ids: Collection[str]) -> Mapping[str, DocumentRef]: ...

    async def chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]: ...

    async def chunks_of(self, corpus_id: str, document_id: str) -> list[Chunk]:
        """By position."""
        ...

    async def chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        """By `view_id`: drops what the views still hold and the record does not."""
        ...

    async def entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]: ...

    async def facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        """Facts that these chunks assert, by (chunk id, fact id)."""
        ...


@dataclass(frozen=True, kw_only=True)
class GraphRows:
    """The graph's rows as columns of ids. `chunks` are (chunk id, document id, view id); a mention's count is the sum
    over its forms; facts are (chunk id, subject id, object id), one per assertion; synonyms (entity, entity, cosine).
    `entities` are (entity id, normalised name) of every entity that the other rows name.
    """

    chunks: Sequence[tuple[str, str, str]]
    entities: Sequence[tuple[str, str]]
    mentions: Sequence[tuple[str, str, int]]
    facts: Sequence[tuple[str, str, str]]
    synonyms: Sequence[tuple[str, str, float]]


@dataclass(frozen=True, kw_only=True)
class GraphChanges:
    """What leads from one generation to a later one: drop the `removed` chunks with their rows and all synonyms of the
    entities `synonyms_of`, then add `added`. A changed chunk is in both. An entity that nothing mentions is gone.
    """

    generation: int
    removed: Collection[str]
    added: GraphRows
    synonyms_of: Collection[str] = field(default=frozenset())


class GraphSource(Protocol):
    """What in-memory snapshots are made of, and kept up to date with. Visible rows only."""

    async def generation(self, corpus_id: str) -> int: ...

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        """The whole graph at one generation."""
        ...

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        """What changed after generation `since`; None if that is too far back to be known."""
        ...


class Jobs(Protocol):
    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`."""
        ...

    async def all(self, *, limit: int = 50) -> list[Job]:
        """Newest first."""
        ...

    async def cancel(self, job_id: str) -> Job:
        """Cancel what is not finished; what is stays. A final job is returned as it is."""
        ...


class Exporter(Protocol):
    """Everything that readers see of a corpus, as JSON-ready rows in a fixed order."""

    def rows(self, corpus_id: str, *, canonical: bool) -> AsyncIterator[Mapping[str, object]]:
        """First documents, then chunks, entities, mentions, facts; each by id. Not canonical: synonyms too."""
        ...


class Record(Protocol):
    """The ports of one record together, as the container hands them out."""

    @property
    def corpora(self) -> Corpora: ...
    @property
    def intake(self) -> Intake: ...
    @property
    def work(self) -> WorkQueue: ...
    @property
    def library(self) -> Library: ...
    @property
    def graph(self) -> GraphSource: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def exporter(self) -> Exporter: ...

    async def close(self) -> None: ...

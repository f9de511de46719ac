"""Corpora and what they hold: documents, chunks, entities and facts; search results, and jobs that change a corpus.

`Usage` is the cost of model calls in calls, tokens and seconds, of a search as of an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from hopweave.wire.base import Span
from hopweave.wire.jobs import Failure, Job
from hopweave.wire.search import HitDocument, NodeKind, PathStep

ExportFormat: TypeAlias = Literal["jsonl", "graphml", "csv"]


DocumentState: TypeAlias = Literal[
    "queued", "loading", "extracting", "writing", "deleting", "paused", "indexed", "deleted", "failed", "cancelled"
]
OnConflict: TypeAlias = Literal["replace", "skip", "error"]
"""What happens to a document whose key is there with other content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewChunk:
    """A passage of a `NewDocument` that was cut already. A triple is `[subject, predicate, object]`. `embedding` is the
    passage's vector, as numbers or Base64 of 32-bit floats.
    """

    text: str
    page: int | None = None
    entities: tuple[str, ...] = ()
    triples: tuple[Any, ...] = ()
    embedding: Sequence[float] | str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDocument:
    """A document to ingest, with `text`, `chunks` or `content`. Its default key is the hash of its content.

    `media_type` chooses the loader of `text` or `content`, such as `text/markdown`. `content` is in Base64 and needs
    it; a `NewFile` is the shorter way. `embedding` is the vector of the text, as in a `NewChunk`, and needs
    `embedding_model`, as do those of `chunks`: the name of the corpus' model, which then is not called.
    """

    key: str | None = None
    title: str | None = None
    text: str | None = None
    chunks: tuple[NewChunk, ...] | None = None
    content: str | None = None
    media_type: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    triples: tuple[Any, ...] = ()
    embedding: Sequence[float] | str | None = None
    embedding_model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFile:
    """A file to ingest, by its bytes. `name` is its default key, and its suffix chooses the loader.

    `media_type` chooses the loader instead. `title` and `metadata` take precedence over those in the file.
    """

    name: str
    content: bytes
    key: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media_type: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Queued:
    """A document that was sent. `unchanged` and `skipped` ones made no revision; their state is the present one."""

    id: str
    key: str
    state: DocumentState
    unchanged: bool
    skipped: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """A file, or a line of one, that was not sent: `source` names the place, `reason` says why."""

    source: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """`state` is that of the newest revision; `readable` tells whether there is a current one, which searches see if
    the document is `enabled`.
    """

    id: str
    key: str
    title: str
    metadata: Mapping[str, Any]
    state: DocumentState
    reason: str | None
    readable: bool
    chunks: int
    malformed_triples: int
    media_type: str
    size: int
    content_hash: str
    updated_at: datetime
    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDetail(Document):
    """`pages` is the number of the last page that has passages, or None if they have no pages; `page_images` tells
    whether there are images of the pages.
    """

    pages: int | None
    page_images: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A passage of a document."""

    id: str
    document_id: str
    position: int
    text: str
    heading: str
    page: int | None
    span: Span | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighbouringChunk(Chunk):
    """A passage with those before and after it in its document."""

    previous: Chunk | None
    next: Chunk | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingestion:
    """The jobs of an ingest (one for each call of at most 1,000 documents), the documents that were sent, and the files
    or lines that were not.
    """

    jobs: tuple[Job, ...]
    documents: tuple[Queued, ...]
    rejected: tuple[Rejection, ...]

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The documents that failed, up to as many of each job as the server names."""
        return tuple(failure for job in self.jobs for failure in job.failures)

    def count(self, state: str) -> int:
        """Returns how many documents of the jobs are in this state, such as `indexed`, `failed` or `unchanged`."""
        return sum(job.counts.get(state, 0) for job in self.jobs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """The job that deletes documents. `missing` are the keys that no document has."""

    job: Job
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEstimate:
    """The calls of a language model. The numbers are as good as the `assumptions`."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EstimateNote:
    """What a loader tells of the document with a key."""

    key: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What an ingest would cost. `unchanged` documents are indexed already and cost nothing; `tokens` are those that
    the embedding model reads. `model` is None if the corpus' extractor calls no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimate | None
    rejected: tuple[Rejection, ...]
    notes: tuple[EstimateNote, ...]


EntityType: TypeAlias = Literal["person", "organisation", "place", "work", "date", "amount", "law", "product", "other"]
EntityMatch: TypeAlias = Literal["exact", "spelling", "part", "close", "similar", "any"]
"""The name; without case, diacritics and punctuation; a part of it; with a typo; by vectors; none was asked for."""

EdgeKind: TypeAlias = Literal["mention", "fact", "synonym"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """An entity, and the number of passages that mention it.

    `type` is what its name and its facts show it to be; None without a sure sign.
    """

    id: str
    name: str
    passages: int
    type: EntityType | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundEntity:
    """`similarity` is the cosine of the vectors if `match` is `similar`; if `close`, the share of equal letters."""

    entity: Entity
    match: EntityMatch
    similarity: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityFact:
    """A fact, with the ids of the passages that assert it."""

    subject: Entity
    predicate: str
    object: Entity
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySynonym:
    """Likely another name of the same thing; `score` is the cosine of the names' vectors."""

    entity: Entity
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedEntity:
    """An entity by its id and its name."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mentioning:
    """A passage that mentions an entity."""

    chunk: Chunk
    document: HitDocument


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDetails:
    """An entity with its facts, those that most passages assert first; `fact_count` counts all.

    `merged` are the entities that are merged into it.
    """

    entity: Entity
    facts: tuple[EntityFact, ...]
    fact_count: int
    synonyms: tuple[EntitySynonym, ...]
    merged: tuple[NamedEntity, ...]
    passages: tuple[Mentioning, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SubgraphNode:
    """`label` is the name of an entity, or the title (else the key) of a passage's document and its heading.

    `passages` is the number of passages that mention the entity; None for a passage.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SubgraphEdge:
    """`label` is the predicate of a fact. `chunk_id` is a passage that states the edge; empty for a synonym."""

    source: str
    target: str
    kind: EdgeKind
    label: str
    chunk_id: str
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Subgraph:
    """Nodes and edges for drawing; `truncated` if there are more nodes."""

    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The steps of a path between two entities."""

    steps: tuple[PathStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ways:
    """The shortest first; not `complete` if the search was cut short."""

    ways: tuple[Way, ...]
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityMerge:
    """A merge of `entity` into another entity; `automatic` if nobody asked for it, by the threshold of the corpus."""

    id: str
    entity: NamedEntity
    into: NamedEntity
    merged_at: datetime
    automatic: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A feature of a pair of entities. `effect` is by how much it raises the log-odds; below 0 it speaks against it."""

    feature: str
    explanation: str
    value: float
    effect: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityProposal:
    """Two entities that may be one. `merge_entities` of `entity` into `into` accepts the proposal."""

    id: str
    entity: Entity
    into: Entity
    probability: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityProposals:
    """The most probable first; not `complete` if the corpus has more entities or pairs than are compared."""

    data: tuple[EntityProposal, ...]
    complete: bool
    next_cursor: None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRejection:
    """`entity` and `other` are two, and are not proposed as one."""

    id: str
    entity: NamedEntity
    other: NamedEntity
    rejected_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """Proposals of at least the probability `merge_above` are merged without being asked for; None: never."""

    merge_above: float | None

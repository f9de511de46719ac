"""What the client sends, documents, limits and turns of a conversation, and what it makes of several answers.

Most of its results are values of `hopweave.wire`. A test compares what is sent with the bodies of the HTTP API.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from hopweave.wire.documents import Queued, Rejection
from hopweave.wire.jobs import Failure, Job

Unsupported: TypeAlias = Literal["infer", "abstain", "memory"]
ExportFormat: TypeAlias = Literal["jsonl", "graphml", "csv"]
OnConflict: TypeAlias = Literal["replace", "skip", "error"]
"""What happens to a document whose key is there with other content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """Limits of one question: calls of models, tokens (prompt and completion together), seconds.

    Each may be at most the server's own limit, which holds where none is given.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A turn of the conversation before the question."""

    role: Literal["user", "assistant"]
    content: str


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
    `embedding_model`, as do those of `chunks`: the name of the corpus' model, which then is not called. `access` has
    the principals that may see it, such as `group:legal`; None: everyone who may see the corpus, or who sees it now.
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
    access: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFile:
    """A file to ingest, by its bytes. `name` is its default key, and its suffix chooses the loader.

    `media_type` chooses the loader instead. `title`, `metadata` and `access` (the principals that may see the document)
    take precedence over those in the file.
    """

    name: str
    content: bytes
    key: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media_type: str | None = None
    access: Sequence[str] | None = None


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

"""Jobs: how far they are, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from hopweave.wire.base import doc

__all__ = [
    "JOB_EVENTS",
    "Failure",
    "Job",
    "JobAhead",
    "JobFits",
    "JobKind",
    "JobList",
    "JobProgress",
    "JobState",
    "JobUsage",
    "Started",
]

JobKind: TypeAlias = Literal["ingest", "delete", "drop", "reindex", "restore"]
JobState: TypeAlias = Literal["queued", "running", "paused", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A document that failed, and the reason."""

    key: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class JobUsage:
    """The cost of calls of language models so far."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class JobProgress:
    """How much of a job is done."""

    passages: int = field(metadata=doc("Passages that are embedded; if a language model extracts, that are extracted."))
    passages_total: int = field(metadata=doc("The passages of the documents that are cut so far."))
    bytes: int = field(metadata=doc("Bytes of content, with the share of documents that are being indexed."))
    bytes_total: int = field(metadata=doc("Bytes of the content of all documents of the job."))
    seconds_left: int | None = field(metadata=doc("An estimate; null while there is none."))


@dataclass(frozen=True, kw_only=True, slots=True)
class JobAhead:
    """What is indexed before a job begins: earlier documents of its corpus that are not of a larger size class."""

    documents: int
    bytes: int = field(metadata=doc("Bytes of their content that are not done yet."))


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFits:
    """Facts within the schema, outside of it (also what a strict schema left out), and without a relation of it."""

    within: int
    outside: int
    unnamed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """`counts` are by the state of the documents; `unchanged` and `skipped` are those that made no revision.

    A job is `done` if some of its documents failed, and `failed` if all did, or if it is a reindex; `note` and
    `failures` tell. A job whose `tokens` have reached `token_budget` is `paused`; `resume` continues it. Without
    a budget it never pauses.
    """

    id: str
    corpus: str = field(metadata=doc("The name that the corpus had when the job was made."))
    corpus_id: str
    kind: JobKind
    state: JobState
    note: str | None = field(metadata=doc("Tells of documents that failed; null if none did."))
    counts: Mapping[str, int]
    malformed_triples: int
    fits: JobFits | None = field(
        default=None,
        metadata=doc(
            "How facts of the documents fit the schema that the corpus had when each was indexed; null if none was "
            "compared with one."
        ),
    )
    failures: tuple[Failure, ...]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    token_budget: int | None
    tokens: int
    usage: JobUsage
    progress: JobProgress
    ahead: JobAhead | None = field(metadata=doc("Null once a document of the job was begun."))
    generation: int | None = field(
        metadata=doc(
            "A generation of the corpus that has all that the job has changed, for `min_generation` of a "
            "search. Null until the job is over, and in the response of a request that starts it."
        )
    )

    @property
    def is_settled(self) -> bool:
        """Whether the job goes on no more: it is over, or paused."""
        return self.state in {"done", "failed", "cancelled", "paused"}


JOB_EVENTS: dict[str, type[Job]] = {"progress": Job, "end": Job}
"""By the name of the server-sent event."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobList:
    data: tuple[Job, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """The response of a request that only starts a job."""

    job: Job

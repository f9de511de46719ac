"""Jobs: work that goes on in the server after a call has returned."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

__all__ = ["JOB_EVENTS", "Failure", "Job", "JobAhead", "JobKind", "JobProgress", "JobState", "JobUsage"]

JobKind: TypeAlias = Literal["ingest", "delete", "drop", "reindex", "restore"]
JobState: TypeAlias = Literal["queued", "running", "paused", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A document that failed, and why."""

    key: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class JobUsage:
    """The calls of language models so far, and their tokens."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class JobProgress:
    """How much of a job is done, in passages of the documents that are cut so far, and in bytes of all documents.

    `seconds_left` is an estimate, None while there is none.
    """

    passages: int
    passages_total: int
    bytes: int
    bytes_total: int
    seconds_left: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JobAhead:
    """What is indexed in a corpus before a job begins: documents, and the bytes of their content that are not done."""

    documents: int
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """`counts` are by state of the documents, with `unchanged` and `skipped` for those that made no revision. `corpus`
    is the name that the corpus had when the job was made.

    A job is `done` if some documents failed, and `failed` if all did, or if it is a reindex. `note` tells that some
    failed, and `failures` holds the first of them. A job whose `tokens` have reached `token_budget` is `paused`.
    `generation` of a job that is over is for `min_generation` of `search` and `ask`, so that they see what it changed.
    `ahead` is None once a document of the job was begun.
    """

    id: str
    corpus: str
    corpus_id: str
    kind: JobKind
    state: JobState
    note: str | None
    counts: Mapping[str, int]
    malformed_triples: int
    failures: tuple[Failure, ...]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    token_budget: int | None
    tokens: int
    usage: JobUsage
    progress: JobProgress
    ahead: JobAhead | None
    generation: int | None

    @property
    def is_settled(self) -> bool:
        """Whether the job goes on no more: it is over, or paused."""
        return self.state in {"done", "failed", "cancelled", "paused"}


JOB_EVENTS: dict[str, type[Job]] = {"progress": Job, "end": Job}
"""By the name of the server-sent event."""

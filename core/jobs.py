"""A job: a set of revisions that were handed in together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = ["Job", "JobKind", "JobState", "job_state"]


class JobKind(StrEnum):
    INGEST = "ingest"
    DELETE = "delete"
    DROP = "drop"


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, kw_only=True)
class Job:
    """Counts are by revision state, with `unchanged` and `skipped` for submissions that made no revision.

    `started_at` is the first claim, `finished_at` the moment when the last revision became final; both None before.
    """

    id: str
    corpus_id: str
    corpus_name: str
    kind: JobKind
    state: JobState
    counts: Mapping[str, int]
    malformed_triples: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    failures: tuple[tuple[str, str], ...] = field(default=())
    """The first failed documents: (key, reason)."""


def job_state(counts: Mapping[str, int], *, cancelled: bool) -> JobState:
    """The state of a job that follows from the states of its revisions."""
    if counts.get("paused"):
        return JobState.PAUSED
    if any(counts.get(s) for s in ("loading", "extracting", "writing", "deleting")):
        return JobState.RUNNING
    if counts.get("queued"):
        settled = any(counts.get(s) for s in ("indexed", "deleted", "failed"))
        return JobState.RUNNING if settled else JobState.QUEUED
    if counts.get("failed"):
        return JobState.FAILED
    return JobState.CANCELLED if cancelled else JobState.DONE

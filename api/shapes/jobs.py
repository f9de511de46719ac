"""Jobs over the wire."""

from datetime import datetime

from api.shapes.base import Out
from core.jobs import Job, JobKind, JobState

__all__ = ["FailureOut", "JobListOut", "JobOut", "StartedOut", "job_out"]


class FailureOut(Out):
    """A document that failed, and why."""

    key: str
    reason: str


class JobOut(Out):
    """`counts` are by state of the documents, with `unchanged` and `skipped` for those that made no revision."""

    id: str
    corpus: str
    kind: JobKind
    state: JobState
    counts: dict[str, int]
    malformed_triples: int
    failures: list[FailureOut]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobListOut(Out):
    data: list[JobOut]
    next_cursor: None = None


class StartedOut(Out):
    """What answers a call that only begins something."""

    job: JobOut


def job_out(job: Job) -> JobOut:
    return JobOut(
        id=job.id,
        corpus=job.corpus_name,
        kind=job.kind,
        state=job.state,
        counts=dict(job.counts),
        malformed_triples=job.malformed_triples,
        failures=[FailureOut(key=key, reason=reason) for key, reason in job.failures],
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
    )

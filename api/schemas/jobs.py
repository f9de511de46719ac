"""The bodies and responses of the routes of jobs."""

from datetime import datetime
from typing import Self

from pydantic import Field

from api.schemas.base import In, Out, Whole
from core.jobs import Job, JobKind, JobState

__all__ = ["FailureOut", "JobBudgetIn", "JobListOut", "JobOut", "JobUsageOut", "ResumeIn", "StartedOut"]

_TOKENS = "Tokens of language models, prompt and completion together."


class FailureOut(Out):
    """A document that failed, and the reason."""

    key: str
    reason: str


class JobBudgetIn(In):
    """What a job may spend before it pauses."""

    tokens: Whole = Field(ge=1, description=_TOKENS)


class ResumeIn(In):
    """Without `budget`, the job gets as much again as the last time."""

    budget: JobBudgetIn | None = None


class JobUsageOut(Out):
    """The cost of calls of language models so far."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


class JobProgressOut(Out):
    """How much of a job is done."""

    passages: int = Field(description="Passages that are embedded; if a language model extracts, that are extracted.")
    passages_total: int = Field(description="The passages of the documents that are cut so far.")
    bytes: int = Field(description="Bytes of content, with the share of documents that are being indexed.")
    bytes_total: int = Field(description="Bytes of the content of all documents of the job.")
    seconds_left: int | None = Field(description="An estimate; null while there is none.")


class JobAheadOut(Out):
    """What is indexed before a job begins: earlier documents of its corpus that are not of a larger size class."""

    documents: int
    bytes: int = Field(description="Bytes of their content that are not done yet.")


class JobOut(Out):
    """`counts` are by the state of the documents; `unchanged` and `skipped` are those that made no revision.

    A job is `done` if some of its documents failed, and `failed` if all did, or if it is a reindex; `note` and
    `failures` tell. A job whose `tokens` have reached `token_budget` is `paused`; `resume` continues it. Without
    a budget it never pauses.
    """

    id: str
    corpus: str = Field(description="The name that the corpus had when the job was made.")
    corpus_id: str
    kind: JobKind
    state: JobState
    note: str | None = Field(description="Tells of documents that failed; null if none did.")
    counts: dict[str, int]
    malformed_triples: int
    failures: list[FailureOut]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    token_budget: int | None
    tokens: int
    usage: JobUsageOut
    progress: JobProgressOut
    ahead: JobAheadOut | None = Field(description="Null once a document of the job was begun.")
    generation: int | None = Field(
        description="A generation of the corpus that has all that the job has changed, for `min_generation` of a "
        "search. Null until the job is over, and in the response of a request that starts it."
    )

    @classmethod
    def from_job(cls, job: Job, generation: int | None = None) -> Self:
        return cls(
            id=job.id,
            corpus=job.corpus_name,
            corpus_id=job.corpus_id,
            kind=job.kind,
            state=job.state,
            note=job.note,
            counts=dict(job.counts),
            malformed_triples=job.malformed_triples,
            failures=[FailureOut(key=key, reason=reason) for key, reason in job.failures],
            created_at=job.created_at,
            started_at=job.started_at,
            finished_at=job.finished_at,
            token_budget=job.token_budget,
            tokens=job.tokens,
            usage=JobUsageOut.model_validate(job),
            progress=JobProgressOut.model_validate(job.progress),
            ahead=None if job.ahead is None else JobAheadOut.model_validate(job.ahead),
            generation=generation,
        )


class JobListOut(Out):
    data: list[JobOut]
    next_cursor: str | None


class StartedOut(Out):
    """The response of a request that only starts a job."""

    job: JobOut

    @classmethod
    def from_job(cls, job: Job) -> Self:
        return cls(job=JobOut.from_job(job))

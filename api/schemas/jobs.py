"""The bodies of the routes of jobs, and the jobs that they show."""

from pydantic import Field

from api.schemas.base import In, Whole
from api.schemas.values import fill
from core.jobs import Job
from hopweave.wire import jobs as wire

_TOKENS = "Tokens of language models, prompt and completion together."


class JobBudgetIn(In):
    """What a job may spend before it pauses."""

    tokens: Whole = Field(ge=1, description=_TOKENS)


class ResumeIn(In):
    """Without `budget`, the job gets as much again as the last time."""

    budget: JobBudgetIn | None = None


def convert_job(job: Job, generation: int | None = None) -> wire.Job:
    return fill(
        wire.Job,
        job,
        corpus=job.corpus_name,
        failures=tuple(wire.Failure(key=key, reason=reason) for key, reason in job.failures),
        fits=None if job.fits is None else fill(wire.JobFits, job.fits),
        usage=fill(wire.JobUsage, job),
        generation=generation,
    )


def convert_started(job: Job) -> wire.Started:
    """Returns the response of a request that only starts a job."""
    return wire.Started(job=convert_job(job))

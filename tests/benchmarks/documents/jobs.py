"""Submits documents and waits for their jobs, with times by the record's clock."""

import asyncio
from collections.abc import Iterable

from app.container import Container
from app.services import ingestion
from core.corpora import Corpus
from core.documents import OnConflict, Submission
from core.jobs import Job, JobState

__all__ = ["ingest", "job_seconds", "text_submission", "wait_for", "wait_for_end"]

_POLL_SECONDS, _LONGEST_POLL_SECONDS = 0.02, 0.5
_LATER = 1.1
"""A long job is asked for more rarely: each question costs a server some milliseconds of the processor."""


def text_submission(key: str, text: str, media_type: str = "text/plain") -> Submission:
    return Submission(key=key, content=text.encode(), media_type=media_type)


async def ingest(container: Container, corpus: Corpus, submissions: Iterable[Submission]) -> Job:
    """Submits documents as one job, and returns it when it has ended."""
    job: Job | None = None
    async for part in ingestion.submit_all(container, corpus, submissions, OnConflict.REPLACE):
        job = part.job
    if job is None:
        raise ValueError("there are no documents to submit")
    return await wait_for(container, job)


async def wait_for(container: Container, job: Job) -> Job:
    """Returns the job when it has ended. Raises `RuntimeError` unless it is done."""
    ended = await wait_for_end(container, job)
    if ended.state is not JobState.DONE:
        raise RuntimeError(f"the job is not done: {ended}")
    return ended


async def wait_for_end(container: Container, job: Job) -> Job:
    """Returns the job when it does not change any more, however it ended."""
    seconds = _POLL_SECONDS
    while not job.settled:
        await asyncio.sleep(seconds)
        job = await container.record.jobs.get(job.id)
        seconds = min(_LONGEST_POLL_SECONDS, seconds * _LATER)
    return job


def job_seconds(job: Job) -> float:
    """Returns the time from the submission to the last document."""
    if job.finished_at is None:
        raise RuntimeError(f"the job has not ended: {job}")
    return (job.finished_at - job.created_at).total_seconds()

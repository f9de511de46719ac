"""Documents handed in: the bytes are kept, revisions queued, and a worker rung for."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from app.container import Container
from core.corpora import Corpus
from core.documents import OnConflict, Submission, check_submission
from core.errors import NotFound
from core.ids import content_hash
from core.jobs import Job, JobKind
from core.ports.record import Enqueued, NewRevision
from indexer import Rejection, fingerprint

__all__ = ["MAX_DOCUMENTS", "Progress", "delete_documents", "hand_in", "hand_in_all", "resume"]

MAX_DOCUMENTS = 1000
"""How many documents one call over HTTP takes, and how many one transaction of `hand_in_all` queues."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What `hand_in_all` has done so far; `job` is complete with the last one."""

    job: Job
    handed_in: int
    rejected: tuple[Rejection, ...]


async def hand_in(
    container: Container,
    corpus: Corpus,
    submissions: Sequence[Submission],
    on_conflict: OnConflict,
    *,
    job_id: str | None = None,
    token_budget: int | None = None,
) -> Enqueued:
    """Keep the bytes and queue revisions for what is new or changed, in one transaction.

    `token_budget`: how many tokens of models the job may use up, if it is made here; then it pauses.
    """
    container.check_embedding(corpus)
    revisions = [_revision(check_submission(submission)) for submission in submissions]
    contents = [submission.content for submission in submissions]
    await container.files.put(corpus.id, contents)
    try:
        enqueued = await container.record.submissions.enqueue(
            corpus.id, revisions, on_conflict, job_id=job_id, token_budget=token_budget
        )
    except NotFound:
        await _drop_if_gone(container, corpus.id)
        raise
    # Between keeping and queuing, a worker may have deleted bytes that no revision named: write them once more.
    await container.files.put(corpus.id, contents)
    await container.notifier.notify_soon(corpus.id)
    return enqueued


async def _drop_if_gone(container: Container, corpus_id: str) -> None:
    """The bytes of a corpus that was forgotten just before they were kept: nobody else will take them away."""
    try:
        await container.record.corpora.get_by_id(corpus_id)
    except NotFound:
        await container.files.delete_corpus(corpus_id)


async def hand_in_all(
    container: Container,
    corpus: Corpus,
    found: Iterable[Submission | Rejection],
    on_conflict: OnConflict,
    *,
    token_budget: int | None = None,
) -> AsyncGenerator[Progress]:
    """Hand in a stream as one job, a thousand documents at a time; yields after each part.

    Whoever may leave early closes it (`contextlib.aclosing`), so that the job ends with what was handed in.
    """
    rejected: list[Rejection] = []
    handed_in = 0
    job_id = await container.record.submissions.open_job(corpus.id, JobKind.INGEST, token_budget=token_budget)
    try:
        rest = iter(found)
        while part := list(islice(rest, MAX_DOCUMENTS)):
            rejected += [one for one in part if isinstance(one, Rejection)]
            submissions = [one for one in part if isinstance(one, Submission)]
            if submissions:
                enqueued = await hand_in(container, corpus, submissions, on_conflict, job_id=job_id)
                handed_in += len(submissions)
                yield Progress(job=enqueued.job, handed_in=handed_in, rejected=tuple(rejected))
        job = await container.record.submissions.close_job(job_id)
    except BaseException:  # also when interrupted: the job ends with what was handed in
        await container.record.submissions.close_job(job_id)
        raise
    yield Progress(job=job, handed_in=handed_in, rejected=tuple(rejected))


async def delete_documents(container: Container, corpus: Corpus, document_ids: Sequence[str]) -> Job:
    """Make documents invisible at once and have a worker remove them."""
    job = await container.record.submissions.delete_documents(corpus.id, document_ids)
    await container.notifier.notify_soon(corpus.id)
    return job


async def resume(container: Container, job_id: str, *, tokens: int | None = None) -> Job:
    """Queue what a job's budget paused, with `tokens` more to use up (None: as many as the last time), and ring."""
    job = await container.record.jobs.resume(job_id, tokens=tokens)
    await container.notifier.notify_soon(job.corpus_id)
    return job


def _revision(submission: Submission) -> NewRevision:
    return NewRevision(
        key=submission.key,
        media_type=submission.media_type,
        content_hash=content_hash(submission.content),
        size=len(submission.content),
        fingerprint=fingerprint(submission),
        title=submission.title,
        metadata=submission.metadata,
    )

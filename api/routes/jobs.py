"""The routes of jobs: list, show, follow, cancel, resume."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from api.access.keys import READ, WRITE
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, IdempotencyKey, run_json_once
from api.schemas.jobs import ResumeIn, convert_job
from api.schemas.stream import JOB_EVENTS_RESPONSES
from api.streams.following import follow_job
from app.services.asked_corpora import read_generation
from app.services.ingestion import resume
from core.jobs import JobKind, JobState
from hopweave.wire.jobs import Job, JobList

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("", dependencies=[READ], summary="List jobs, newest first")
async def list_jobs(
    container: ContainerDep,
    corpus: Annotated[str | None, Query(description="The name that the corpus had when the job was made.")] = None,
    kind: JobKind | None = None,
    state: JobState | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> JobList:
    """The jobs of a deleted corpus are listed, too. 404 for a name that neither a corpus nor a job has."""
    scope = ("jobs", corpus, kind, state)
    before = decode_cursor(cursor, *scope)
    jobs = await container.record.jobs.list(limit=limit + 1, before=before, corpus=corpus, kind=kind, state=state)
    if corpus is not None and not jobs and not await container.record.jobs.list(limit=1, corpus=corpus):
        await container.record.corpora.get(corpus)  # jobs outlive their corpus: only without any is the name unknown
    last = jobs[limit - 1].id if len(jobs) > limit else None
    data = [convert_job(job, await read_generation(container, job)) for job in jobs[:limit]]
    return JobList(data=tuple(data), next_cursor=encode_cursor(last, *scope))


@router.get("/{id}", dependencies=[READ], summary="One job")
async def show_job(id: str, container: ContainerDep) -> Job:
    job = await container.record.jobs.get(id)
    return convert_job(job, await read_generation(container, job))


@router.get(
    "/{id}/events",
    dependencies=[READ],
    summary="A job as server-sent events",
    response_class=StreamingResponse,
    responses=JOB_EVENTS_RESPONSES,
)
async def job_events(
    id: str, container: ContainerDep, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """An event `progress` for each change, and one `end` when the job has ended or is paused.

    With `Last-Event-ID`, what the client has seen is not sent again; 204 if that was the end.
    """
    return await follow_job(container, id, last_event_id)


@router.post("/{id}/cancel", dependencies=[WRITE], summary="Cancel a job")
async def cancel_job(id: str, container: ContainerDep) -> Job:
    """Finished documents stay. A job that has ended is returned unchanged."""
    job = await container.record.jobs.cancel(id)
    return convert_job(job, await read_generation(container, job))


@router.post("/{id}/resume", dependencies=[WRITE], summary="Resume a paused job", response_model=Job)
async def resume_job(
    id: str, container: ContainerDep, request: Request, body: ResumeIn | None = None, key: IdempotencyKey = None
) -> Response:
    """A job pauses when its budget is used up. Paid extractions are kept and not paid for again."""
    tokens = body.budget.tokens if body and body.budget else None

    async def work() -> Job:
        return convert_job(await resume(container, id, tokens=tokens))

    return await run_json_once(request, container, key, work, status=HTTPStatus.OK, locate=None)

"""Jobs: list, show, cancel, resume."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import ContainerDep
from api.schemas.jobs import JobListOut, JobOut, ResumeIn, job_out
from app.services.ingestion import resume

__all__ = ["router"]

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("", summary="List jobs, newest first")
async def list_jobs(container: ContainerDep, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> JobListOut:
    return JobListOut(data=[job_out(job) for job in await container.record.jobs.list(limit=limit)])


@router.get("/{id}", summary="One job")
async def show_job(id: str, container: ContainerDep) -> JobOut:
    return job_out(await container.record.jobs.get(id))


@router.post("/{id}/cancel", summary="Cancel what is not finished")
async def cancel_job(id: str, container: ContainerDep) -> JobOut:
    """What is finished stays; a job that is over is returned as it is."""
    return job_out(await container.record.jobs.cancel(id))


@router.post("/{id}/resume", summary="Let a paused job go on")
async def resume_job(id: str, container: ContainerDep, body: ResumeIn | None = None) -> JobOut:
    """A job pauses when its budget is used up; what was paid for is kept, and not paid for again."""
    tokens = body.budget.tokens if body and body.budget else None
    return job_out(await resume(container, id, tokens=tokens))

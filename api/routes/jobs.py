"""The routes of jobs: list, show, cancel, resume."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import ContainerDep
from api.schemas.jobs import JobListOut, JobOut, ResumeIn
from app.services.ingestion import resume

__all__ = ["router"]

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("", summary="List jobs, newest first")
async def list_jobs(container: ContainerDep, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> JobListOut:
    return JobListOut(data=[JobOut.from_job(job) for job in await container.record.jobs.list(limit=limit)])


@router.get("/{id}", summary="One job")
async def show_job(id: str, container: ContainerDep) -> JobOut:
    return JobOut.from_job(await container.record.jobs.get(id))


@router.post("/{id}/cancel", summary="Cancel a job")
async def cancel_job(id: str, container: ContainerDep) -> JobOut:
    """Finished documents stay. A job that has ended is returned unchanged."""
    return JobOut.from_job(await container.record.jobs.cancel(id))


@router.post("/{id}/resume", summary="Resume a paused job")
async def resume_job(id: str, container: ContainerDep, body: ResumeIn | None = None) -> JobOut:
    """A job pauses when its budget is used up. Paid extractions are kept and not paid for again."""
    tokens = body.budget.tokens if body and body.budget else None
    return JobOut.from_job(await resume(container, id, tokens=tokens))

"""Jobs: list, show, cancel."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import ContainerDep
from api.shapes.jobs import JobListOut, JobOut, job_out

__all__ = ["router"]

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("", summary="List jobs, newest first")
async def list_jobs(container: ContainerDep, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> JobListOut:
    return JobListOut(data=[job_out(job) for job in await container.record.jobs.all(limit=limit)])


@router.get("/{id}", summary="One job")
async def show_job(id: str, container: ContainerDep) -> JobOut:
    return job_out(await container.record.jobs.get(id))


@router.post("/{id}/cancel", summary="Cancel what is not finished")
async def cancel_job(id: str, container: ContainerDep) -> JobOut:
    """What is finished stays; a job that is over is returned as it is."""
    return job_out(await container.record.jobs.cancel(id))

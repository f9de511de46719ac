"""`follow_job`: a job as server-sent events until it ends. The record is read at intervals: workers are elsewhere."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http import HTTPStatus

from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import Response

from api.problems import details_of
from api.schemas.jobs import JobOut
from app.container import Container
from app.services.scope import read_generation
from core.errors import HopweaveError, Unavailable
from core.ids import digest
from core.jobs import Job

__all__ = ["follow_job"]

_POLL_SECONDS = 0.25
_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def follow_job(container: Container, job_id: str, last_event: str | None) -> Response:
    """Returns a stream of the job's states after the event `last_event`, or an empty response (204) if it was the last.

    Raises `NotFound`.
    """
    job = await container.record.jobs.get(job_id)
    if job.settled and last_event == _name_state(job):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return EventSourceResponse(_events(container, job, last_event), headers=_HEADERS)


async def _events(container: Container, job: Job, seen: str | None) -> AsyncIterator[bytes]:
    pinged = time.monotonic()
    while True:
        name = _name_state(job)
        if name != seen or job.settled:
            kind = "end" if job.settled else "progress"
            shown = JobOut.from_job(job, await read_generation(container, job))
            yield format_sse_event(id=name, event=kind, data_str=shown.model_dump_json())
            seen, pinged = name, time.monotonic()
        if job.settled:
            return
        await asyncio.sleep(_POLL_SECONDS)
        if time.monotonic() - pinged >= _PING_SECONDS:
            yield KEEPALIVE_COMMENT
            pinged = time.monotonic()
        try:
            job = await container.record.jobs.get(job.id)
        except Unavailable:
            continue  # workers wait for the record, too
        except HopweaveError as error:
            yield format_sse_event(event="error", data_str=json.dumps(details_of(error, f"/v1/jobs/{job.id}/events")))
            return


def _name_state(job: Job) -> str:
    """Returns the id of the event of a state. Equal states have equal ids in all processes, so any can resume.

    The time that is left changes while nothing else does; it is no part of the state.
    """
    state = JobOut.from_job(job).model_dump_json(exclude={"progress": {"seconds_left"}})
    return digest("job state", [state])[:16]

"""`follow_job` and `follow_question`: a job, or a stored question, as server-sent events until it ends.

The record is read at intervals: a worker, or another process, does the work.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import Response

from api.problems import details_of
from api.schemas.jobs import convert_job
from api.schemas.stored_questions import path_of
from api.schemas.values import dump_json
from app.container import Container
from app.services.asked_corpora import read_generation
from app.services.stored_questions.questions import list_events, read_question
from app.services.stored_questions.texts import fill_texts
from core.corpora import Corpus
from core.errors import HopweaveError, NotFound, Unavailable
from core.ids import digest
from core.jobs import Job
from core.questions import AskedQuestion, QuestionState
from core.record_policy.questions import CANCELLED, WITHDRAWN

_JOB_POLL_SECONDS = 0.25
_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def follow_job(container: Container, job_id: str, last_event: str | None) -> Response:
    """Returns a stream of the job's states after the event `last_event`, or an empty response (204) if it was the last.

    Raises `NotFound`.
    """
    job = await container.record.jobs.get(job_id)
    if job.settled and last_event == _name_state(job):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return EventSourceResponse(_job_events(container, job, last_event), headers=_HEADERS)


async def _job_events(container: Container, job: Job, seen: str | None) -> AsyncIterator[bytes]:
    pinged = time.monotonic()
    while True:
        name = _name_state(job)
        if name != seen or job.settled:
            kind = "end" if job.settled else "progress"
            shown = convert_job(job, await read_generation(container, job))
            yield format_sse_event(id=name, event=kind, data_str=dump_json(shown))
            seen, pinged = name, time.monotonic()
        if job.settled:
            return
        await asyncio.sleep(_JOB_POLL_SECONDS)
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
    state = dump_json(convert_job(job), exclude={"progress": {"seconds_left"}})
    return digest("job state", [state])[:16]


_POLL_SECONDS = 0.2
_FIRST_POLL_SECONDS = 0.02
"""The record is read soon after something has come: what is found follows the question within a tenth of a second. The
pause is a quarter of the time in which nothing came, within these bounds.
"""
_LAST = "end"
"""The id of the last event. The others have the numbers of the record."""


async def follow_question(container: Container, corpus: Corpus, question_id: str, last_event: str | None) -> Response:
    """Returns a stream of the events after `last_event`, or an empty response (204) if that was the last.

    Raises `NotFound`.
    """
    question = await container.record.questions.get(corpus.id, question_id)
    if question.state.final and last_event == _LAST:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    seen = int(last_event) if last_event is not None and last_event.isdecimal() and len(last_event) < 10 else 0
    return EventSourceResponse(_question_events(container, corpus, question_id, seen), headers=_HEADERS)


async def _question_events(container: Container, corpus: Corpus, question_id: str, seen: int) -> AsyncIterator[bytes]:
    instance = f"{path_of(corpus, question_id)}/events"
    pinged = changed = time.monotonic()
    while True:
        try:
            # The state before the events: none is missing if the question has ended.
            question = await container.record.questions.get(corpus.id, question_id)
            events = await list_events(container, corpus, question_id, after=seen)
            for event in events:
                data = await fill_texts(container, corpus, json.loads(event.data))
                yield format_sse_event(id=str(event.number), event=event.kind, data_str=json.dumps(data))
                seen, pinged = event.number, time.monotonic()
                changed = pinged
            if question.state.final and not events:
                yield await _end(container, corpus, question_id)
                return
        except Unavailable:
            events = ()  # who answers the question waits for the record, too
        except HopweaveError as error:
            if isinstance(error, NotFound) and (moved := await _find_moved(container, corpus)) is not None:
                corpus = moved
                continue
            yield format_sse_event(id=_LAST, event="error", data_str=json.dumps(details_of(error, instance)))
            return
        if not events:
            quiet = time.monotonic() - changed
            await asyncio.sleep(min(_POLL_SECONDS, max(_FIRST_POLL_SECONDS, quiet / 4)))
        if time.monotonic() - pinged >= _PING_SECONDS:
            yield KEEPALIVE_COMMENT
            pinged = time.monotonic()


async def _find_moved(container: Container, corpus: Corpus) -> Corpus | None:
    """Returns the corpus that has taken the name, and the questions with it: the old corpus was reindexed."""
    try:
        found = await container.record.corpora.get(corpus.name)
    except (NotFound, Unavailable):
        return None
    return None if found.id == corpus.id else found


async def _end(container: Container, corpus: Corpus, question_id: str) -> bytes:
    """Returns the last event: the answer, or why there is none."""
    question = await read_question(container, corpus, question_id)
    if question.answer is not None:
        return format_sse_event(id=_LAST, event="answer", data_str=json.dumps(question.answer))
    problem = {**problem_of(question), "instance": path_of(corpus, question_id)}
    return format_sse_event(id=_LAST, event="error", data_str=json.dumps(problem))


def problem_of(question: AskedQuestion) -> dict[str, Any]:
    """Returns why a question that has ended has no answer."""
    if question.problem is not None:
        return dict(question.problem)
    return CANCELLED if question.state is QuestionState.CANCELLED else WITHDRAWN

"""`follow_question`: a stored question as server-sent events. The record is read: any process may answer it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import Response

from api.problems import details_of
from api.schemas.answers.questions import path_of
from app.container import Container
from app.services.stored_questions.questions import list_events, read_question
from app.services.stored_questions.texts import fill_texts
from core.corpora import Corpus
from core.errors import HopweaveError, NotFound, Unavailable
from core.questions import AskedQuestion, QuestionState
from core.record_policy.questions import CANCELLED, WITHDRAWN

__all__ = ["follow_question"]

_POLL_SECONDS = 0.2
_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
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
    return EventSourceResponse(_events(container, corpus, question_id, seen), headers=_HEADERS)


async def _events(container: Container, corpus: Corpus, question_id: str, seen: int) -> AsyncIterator[bytes]:
    instance = f"{path_of(corpus, question_id)}/events"
    pinged = time.monotonic()
    while True:
        try:
            # The state before the events: none is missing if the question has ended.
            question = await container.record.questions.get(corpus.id, question_id)
            events = await list_events(container, corpus, question_id, after=seen)
            for event in events:
                data = await fill_texts(container, corpus, json.loads(event.data))
                yield format_sse_event(id=str(event.number), event=event.kind, data_str=json.dumps(data))
                seen, pinged = event.number, time.monotonic()
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
            await asyncio.sleep(_POLL_SECONDS)
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
    problem = {**_problem_of(question), "instance": path_of(corpus, question_id)}
    return format_sse_event(id=_LAST, event="error", data_str=json.dumps(problem))


def _problem_of(question: AskedQuestion) -> dict[str, Any]:
    if question.problem is not None:
        return dict(question.problem)
    return CANCELLED if question.state is QuestionState.CANCELLED else WITHDRAWN

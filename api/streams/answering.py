"""The two ways to send an answer: whole (`send_answer`), or as server-sent events with its trace (`stream_answer`)."""

import json
from collections.abc import Coroutine, Iterator
from typing import Any

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import Response

from api.connection import run_while_connected
from api.deps import json_response
from api.schemas.ask import AnswerOut
from api.schemas.events import convert_event
from api.streams.work_stream import Put, stream_work
from app.services.links import Links
from core.ports.reasoning import Answer
from core.trace import Event, Trace

__all__ = ["send_answer", "stream_answer"]


async def send_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace, links: Links) -> Response:
    """Returns a response with the answer of `work`, which is cancelled if the client disconnects before."""
    return json_response(AnswerOut.from_answer(await run_while_connected(request, work), trace, links))


async def stream_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace, links: Links) -> Response:
    """Returns a response that sends the events of `trace` while `work` runs, then its answer, or one `error`.

    An error before the first event is raised, so that it becomes an ordinary response with its own status.
    """
    events = _Events(trace, links)

    def begin(put: Put) -> Coroutine[Any, Any, Answer]:
        def listen(event: Event) -> None:
            if (data := convert_event(event, links)) is not None:
                put(events.format(event.kind, data.model_dump_json()))

        trace.listeners.append(listen)
        return work

    return await stream_work(request, begin, events)


class _Events:
    """The stream of an answer as numbered server-sent events (a `StreamForm`)."""

    media_type = "text/event-stream"
    ping = KEEPALIVE_COMMENT

    def __init__(self, trace: Trace, links: Links) -> None:
        self._trace = trace
        self._links = links
        self._number = 0

    def begin(self) -> bytes:
        return b""

    def end(self, made: Answer) -> Iterator[bytes]:
        yield self.format("answer", AnswerOut.from_answer(made, self._trace, self._links).model_dump_json())

    def send_error(self, details: dict[str, Any]) -> bytes:
        return self.format("error", json.dumps(details))

    def format(self, kind: str, data: str) -> bytes:
        self._number += 1
        return format_sse_event(id=str(self._number), event=kind, data_str=data)

"""`Journal`: stores the events of one question while it is answered, and renews its lease."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any, Protocol

from app.services.stored_questions.texts import strip_texts
from core.errors import Unavailable
from core.events import SearchEvent, StepEvent
from core.ports.questions import Questions
from core.ports.reasoning import Answer
from core.ports.retrieval import Hit
from core.questions import QuestionEvent
from core.record_policy.questions import TOKEN
from core.trace import Event, Trace

__all__ = ["AnswerForm", "Journal", "list_retrieved"]

_BATCH_SECONDS = 0.1
"""Events of so long are written at once."""

_RETRY_SECONDS = 1.0
_RENEWALS = 5
"""How often a lease is renewed before it expires, at least."""

_RENEW_SECONDS = 2.0
"""The longest time between two renewals, and so until a question ends that was cancelled elsewhere."""


class AnswerForm(Protocol):
    """How answers, events and errors are stored: as the JSON that users read."""

    def event(self, event: Event) -> dict[str, Any] | None:
        """Returns the data of an event; None if users do not read it."""
        ...

    def answer(self, answer: Answer, trace: Trace) -> dict[str, Any]: ...

    def problem(self, error: BaseException) -> dict[str, Any]: ...


def list_retrieved(hits: tuple[Hit, ...]) -> Iterator[str]:
    """Yields the ids of the documents of hits that are not from the web."""
    return (hit.document.id for hit in hits if hit.url is None)


class Journal:
    """Events are added by `listen`, a listener of a trace, and written by `run`, a task. `flush` writes the rest."""

    def __init__(self, questions: Questions, question_id: str, form: AnswerForm, *, lease_seconds: float) -> None:
        self._questions = questions
        self._id = question_id
        self._form = form
        self._lease = lease_seconds
        self._pause = min(lease_seconds / _RENEWALS, _RENEW_SECONDS)
        self._events: list[QuestionEvent] = []
        self._tokens: tuple[str, list[str]] = ("", [])
        self._retrieved: set[str] = set()
        self._written: set[str] = set()
        self._number = 0
        self._waiting = asyncio.Event()

    def listen(self, event: Event) -> None:
        if isinstance(event, SearchEvent):
            self._retrieved.update(list_retrieved(event.hits))
        elif isinstance(event, StepEvent):
            self._retrieved.update(list_retrieved(event.result.hits))
        data = self._form.event(event)
        if data is None:
            return
        if event.kind == TOKEN:
            self._add_token(data)
        else:
            self._end_tokens()
            self._add(event.kind, data)
        self._waiting.set()

    async def run(self) -> None:
        """Writes until it is cancelled. Raises `Fenced` when the question does not run any more."""
        while True:
            try:
                async with asyncio.timeout(self._pause):
                    await self._waiting.wait()
            except TimeoutError:
                pass
            else:
                await asyncio.sleep(_BATCH_SECONDS)
            await self._write()

    async def flush(self) -> None:
        """Writes what is not written yet. Raises `Fenced`, and `Unavailable` after the time of the lease."""
        deadline = time.monotonic() + self._lease
        while not await self._write():
            if time.monotonic() > deadline:
                raise Unavailable(f"the events of question {self._id!r} could not be stored")

    async def _write(self) -> bool:
        """Renews the lease and writes what there is. Returns whether the record answered."""
        self._waiting.clear()
        self._end_tokens()
        events, retrieved = list(self._events), self._retrieved - self._written
        try:
            await self._questions.append(self._id, events, retrieved, lease_seconds=self._lease)
        except Unavailable:  # the same events are written again, with the same numbers
            self._waiting.set()
            await asyncio.sleep(_RETRY_SECONDS)
            return False
        del self._events[: len(events)]
        self._written |= retrieved
        return True

    def _add(self, kind: str, data: dict[str, Any]) -> None:
        self._number += 1
        text = json.dumps(strip_texts(data), ensure_ascii=False, separators=(",", ":"))
        self._events.append(QuestionEvent(number=self._number, kind=kind, data=text))

    def _add_token(self, data: dict[str, Any]) -> None:
        """Joins pieces of a text that follow each other, so that an answer is some rows and not hundreds."""
        step, pieces = self._tokens
        if pieces and step != data["step"]:
            self._end_tokens()
            pieces = self._tokens[1]
        self._tokens = (data["step"], [*pieces, data["text"]])

    def _end_tokens(self) -> None:
        step, pieces = self._tokens
        self._tokens = ("", [])
        if pieces:
            self._add(TOKEN, {"step": step, "text": "".join(pieces)})

"""`QuestionRunner`: answers questions in the background of this process, and stores their answers.

A journal stores the events of one question while it is answered, and renews the question's lease.
"""

import asyncio
import json
import logging
import time
from collections.abc import Collection, Coroutine
from typing import Any, Protocol

from app.container import Container
from app.services.questions import AskRequest, ask
from app.services.stored_questions.texts import strip_texts
from app.services.stored_questions.verifying import (
    Limits,
    VerificationForm,
    Verifications,
    store_problem,
    verify_stored,
)
from app.services.validity import list_related
from core.corpora import Corpus
from core.errors import Fenced, HopweaveError, RateLimited, Unavailable
from core.events import SearchEvent, StepEvent
from core.faults import describe_bug
from core.ports.reasoning import Answer
from core.ports.record.questions import Questions
from core.questions import AskedQuestion, QuestionEvent, QuestionOutcome, QuestionState
from core.record_policy.questions import ENDED, TOKEN
from core.telemetry.metrics import QUESTIONS
from core.trace import Budget, Event, Trace

_BATCH_SECONDS = 0.1
"""Pieces of a text of this time are written together."""

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


class _Journal:
    """Events are added by `listen`, a listener of a trace, and written by `run`, a task. `flush` writes the rest."""

    def __init__(
        self,
        questions: Questions,
        question_id: str,
        form: AnswerForm,
        told: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        """`told` are the documents of earlier answers that the model is told: with them, this one is withdrawn."""
        self._questions = questions
        self._id = question_id
        self._form = form
        self._lease = lease_seconds
        self._pause = min(lease_seconds / _RENEWALS, _RENEW_SECONDS)
        self._events: list[QuestionEvent] = []
        self._tokens: tuple[str, list[str]] = ("", [])
        self._retrieved = set(told)
        self._written: set[str] = set()
        self._number = 0
        self._waiting = asyncio.Event()

    def listen(self, event: Event) -> None:
        if isinstance(event, SearchEvent):
            self._retrieved.update(*(hit.document_ids for hit in event.hits))
        elif isinstance(event, StepEvent):
            self._retrieved.update(*(hit.document_ids for hit in event.result.hits))
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
                if not self._events:  # pieces of a text, which come by the hundred; what is found is told at once
                    await asyncio.sleep(_BATCH_SECONDS)
            await self._write()

    async def flush(self) -> None:
        """Writes the pending events. Raises `Fenced`, and `Unavailable` after the time of the lease."""
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


_log = logging.getLogger("hopweave.questions")
_FENCED = "fenced"
_ENDED = QuestionOutcome(state=QuestionState.FAILED, problem=ENDED)
"""The outcome of a question whose server ends."""


class StoredForm(AnswerForm, VerificationForm, Protocol):
    """How answers and verifications are stored."""


class QuestionRunner:
    """The questions that this process answers."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._verifications = Verifications()

    def start(
        self,
        container: Container,
        corpus: Corpus,
        question: AskedQuestion,
        request: AskRequest,
        trace: Trace,
        form: StoredForm,
        *,
        verify: Budget | None = None,
    ) -> None:
        """Begins to answer a stored question, and returns at once. With `verify`, its answer is verified then."""

        async def work() -> None:
            state = await answer_stored(container, corpus, question.id, request, trace, form)
            if verify is None or state is not QuestionState.DONE:
                return
            try:
                is_first = self._verifications.begin(question, container.settings.questions.max_running)
            except RateLimited as error:
                await store_problem(container, corpus, question.id, form, error)
                return
            if is_first:
                await self._verify(
                    container, corpus, question, request, Limits(question=trace.budget, verification=verify), form
                )

        self._run(work(), f"answering question {question.id}")

    def verify(
        self,
        container: Container,
        corpus: Corpus,
        question: AskedQuestion,
        request: AskRequest,
        limits: Limits,
        form: StoredForm,
    ) -> None:
        """Begins to verify the answer of a stored question, unless this process does so already, and returns at once.

        Raises `RateLimited` if as many of the asker's answers are verified in this process as questions may run.
        """
        if self._verifications.begin(question, container.settings.questions.max_running):
            work = self._verify(container, corpus, question, request, limits, form)
            self._run(work, f"verifying the answer of question {question.id}")

    async def close(self) -> None:
        """Ends all questions that run: they have failed, since the server ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _verify(
        self,
        container: Container,
        corpus: Corpus,
        question: AskedQuestion,
        request: AskRequest,
        limits: Limits,
        form: StoredForm,
    ) -> None:
        try:
            await verify_stored(container, corpus, question.id, request, limits, form)
        finally:
            self._verifications.end(question)

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s ended: %s", task.get_name(), describe_bug(error))


async def answer_stored(
    container: Container,
    corpus: Corpus,
    question_id: str,
    request: AskRequest,
    trace: Trace,
    form: AnswerForm,
    *,
    interrupted: QuestionOutcome = _ENDED,
) -> QuestionState | None:
    """Answers a stored question, and stores its events as they happen, then its answer or its problem.

    Returns how it ended; None, without a result, when it does not run any more: it was cancelled, deleted or withdrawn.
    If this task is cancelled, the outcome is `interrupted`.
    """
    questions, lease = container.record.questions, container.settings.questions.lease_seconds
    journal = _Journal(questions, question_id, form, request.told, lease_seconds=lease)
    trace.listeners.append(journal.listen)
    state: QuestionState | None
    try:
        outcome = await _answer(container, corpus, request, trace, form, journal)
        await journal.flush()
        await _finish(questions, question_id, outcome, lease)
        state = outcome.state
    except Fenced:
        state = None
    except Unavailable as error:
        _log.warning("the answer of question %s was not stored: %s", question_id, error)
        state = QuestionState.FAILED
    except asyncio.CancelledError:
        await _end(questions, question_id, interrupted)
        raise
    finally:
        trace.listeners.remove(journal.listen)
    QUESTIONS.record(1, state=_FENCED if state is None else state.value, corpus=corpus.name)
    return state


async def _answer(
    container: Container, corpus: Corpus, request: AskRequest, trace: Trace, form: AnswerForm, journal: _Journal
) -> QuestionOutcome:
    """Returns how the question ends. Raises `Fenced` as soon as its result is not wanted any more."""
    asking = asyncio.create_task(ask(container, corpus, request, trace))
    writing = asyncio.create_task(journal.run())
    try:
        await asyncio.wait({asking, writing}, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            writing.result()
        error = asking.exception()
        if error is None:
            return _make_outcome(asking.result(), trace, form)
        if not isinstance(error, HopweaveError):
            _log.error("a question failed: %s", describe_bug(error))
        return QuestionOutcome(state=QuestionState.FAILED, problem=form.problem(error))
    finally:
        for task in (asking, writing):
            task.cancel()
        await asyncio.gather(asking, writing, return_exceptions=True)


def _make_outcome(answer: Answer, trace: Trace, form: AnswerForm) -> QuestionOutcome:
    cited = {citation.document.id for citation in answer.citations if citation.url is None}
    cited |= {quote.hit.document.id for step in answer.steps for quote in step.quotes if quote.hit.url is None}
    return QuestionOutcome(
        state=QuestionState.DONE,
        answer=strip_texts(form.answer(answer, trace)),
        support=answer.support.value,
        retrieved=list_related(answer).union(*(hit.document_ids for step in answer.steps for hit in step.hits)),
        cited=cited,
    )


async def _finish(questions: Questions, question_id: str, outcome: QuestionOutcome, lease: float) -> None:
    """Stores the outcome; again for the time of the lease while the record does not answer."""
    deadline = time.monotonic() + lease
    while True:
        try:
            await questions.finish(question_id, outcome)
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            return


async def _end(questions: Questions, question_id: str, outcome: QuestionOutcome) -> None:
    """Stores why the work has ended. If that fails, readers see it when the lease has expired."""
    try:
        await questions.finish(question_id, outcome)
    except (Fenced, Unavailable):
        return

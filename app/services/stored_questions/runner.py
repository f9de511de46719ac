"""`QuestionRunner`: answers questions in the background of this process, and stores their answers."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any, Protocol

from app.container import Container
from app.services.questions import AskRequest, ask
from app.services.stored_questions.journal import AnswerForm, Journal, list_retrieved
from app.services.stored_questions.texts import strip_texts
from app.services.stored_questions.verifying import (
    Limits,
    VerificationForm,
    Verifications,
    store_problem,
    verify_stored,
)
from core.budget import Budget
from core.corpora import Corpus
from core.errors import Fenced, HopweaveError, RateLimited, Unavailable
from core.faults import describe_bug
from core.ports.questions import Questions
from core.ports.reasoning import Answer
from core.questions import AskedQuestion, QuestionOutcome, QuestionState
from core.record_policy.questions import ENDED
from core.telemetry.metrics import QUESTIONS
from core.trace import Trace

__all__ = ["QuestionRunner", "StoredForm", "answer_stored"]

_log = logging.getLogger("hopweave.questions")

_RETRY_SECONDS = 1.0
_FENCED = "fenced"


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
    form: StoredForm,
) -> QuestionState | None:
    """Answers a stored question, and stores its events as they happen, then its answer or its problem.

    Returns how it ended; None, without a result, when it does not run any more: it was cancelled, deleted or withdrawn.
    """
    questions, lease = container.record.questions, container.settings.questions.lease_seconds
    journal = Journal(questions, question_id, form, lease_seconds=lease)
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
        await _end(questions, question_id)
        raise
    finally:
        trace.listeners.remove(journal.listen)
    QUESTIONS.record(1, state=_FENCED if state is None else state.value, corpus=corpus.name)
    return state


async def _answer(
    container: Container, corpus: Corpus, request: AskRequest, trace: Trace, form: AnswerForm, journal: Journal
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
    cited = {one.document.id for one in answer.citations if one.url is None}
    cited |= {quote.hit.document.id for step in answer.steps for quote in step.quotes if quote.hit.url is None}
    return QuestionOutcome(
        state=QuestionState.DONE,
        answer=strip_texts(form.answer(answer, trace)),
        support=answer.support.value,
        retrieved={id for step in answer.steps for id in list_retrieved(step.hits)},
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


async def _end(questions: Questions, question_id: str) -> None:
    """Stores that the server ends. If that fails, readers see it when the lease has expired."""
    try:
        await questions.finish(question_id, QuestionOutcome(state=QuestionState.FAILED, problem=ENDED))
    except (Fenced, Unavailable):
        return

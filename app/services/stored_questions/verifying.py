"""`verify_stored`: verifies the answer of a stored question, and stores how far it is, then what it found.

The record has one JSON for it, which `VerificationState` reads. While a verification runs, its process writes the JSON
every second, with the time until which it holds; later, readers know that the process is gone. Times are from the
hosts' clocks, which may differ by less than `_LEASE_SECONDS`.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol, Self

from app.container import Container
from app.services.questions import AskRequest, verify
from app.services.stored_questions.questions import read_question
from core.corpora import Corpus
from core.errors import Conflict, HopweaveError, NotFound, Unavailable
from core.faults import describe_bug
from core.questions import AskedQuestion
from core.record_policy.questions import make_problem, nothing_to_verify, too_many_running
from core.trace import Budget, Event, Trace
from core.verification import VerdictEvent, Verification, VerifyingEvent
from reasoning.verification import GivenAnswer

_log = logging.getLogger("hopweave.questions")

_WRITE_SECONDS = 1.0
_LEASE_SECONDS = 30.0

_ENDED = make_problem(HTTPStatus.SERVICE_UNAVAILABLE, "the server ended while the answer was verified; verify it again")

Json = Mapping[str, Any]


class VerificationForm(Protocol):
    """How events, verifications and errors are stored: as the JSON that users read."""

    def given(self, answer: Json) -> GivenAnswer:
        """Returns a stored answer as it is verified."""
        ...

    def event(self, event: Event) -> dict[str, Any] | None: ...

    def verification(self, verification: Verification) -> dict[str, Any]: ...

    def problem(self, error: BaseException) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The budget of making a question understandable alone, and the budget of the verification."""

    question: Budget
    verification: Budget


@dataclass(frozen=True, kw_only=True)
class VerificationState:
    """The verification of an answer: one of these fields is set, or none before it was asked for.

    `result` is what was found, `problem` why it failed. While it runs, `running` has its expected `cost` and the
    `documents` whose role is known.
    """

    result: Json | None = None
    problem: Json | None = None
    running: Json | None = None

    @classmethod
    def of(cls, stored: Json | None) -> Self:
        """Reads the JSON of the record."""
        if stored is None:
            return cls()
        if "running" in stored:
            return cls(problem=_ENDED) if stored["until"] < time.time() else cls(running=stored["running"])
        return cls(result=stored.get("result"), problem=stored.get("problem"))


@dataclass
class _Progress:
    """A listener of the events of a verification."""

    form: VerificationForm
    cost: Json | None = None
    documents: list[Json] = field(default_factory=list)

    def listen(self, event: Event) -> None:
        data = self.form.event(event)
        if data is not None and isinstance(event, VerifyingEvent):
            self.cost = data["cost"]
        elif data is not None and isinstance(event, VerdictEvent):
            # The answer without the document, and what replaces it, may hold the text of documents that the record does
            # not know as sources yet: they come with the result.
            verdict = {name: value for name, value in data.items() if name != "step"}
            self.documents.append({**verdict, "without": None, "replaced_by": [], "why": ""})

    def dump(self) -> dict[str, Any]:
        running = {"cost": self.cost, "documents": list(self.documents)}
        return {"running": running, "until": time.time() + _LEASE_SECONDS}


class Verifications:
    """The answers that this process verifies now: each once, and at most `most` of one asker at the same time."""

    def __init__(self) -> None:
        self._askers: dict[str, str] = {}
        """By the id of the question."""

    def begin(self, question: AskedQuestion, most: int) -> bool:
        """Returns whether the caller is to verify the answer, and then calls `end`; False while somebody does so.

        Raises `RateLimited` if as many of the asker's answers are verified as may.
        """
        if question.id in self._askers:
            return False
        if list(self._askers.values()).count(question.asked_by) >= most:
            raise too_many_running(most)
        self._askers[question.id] = question.asked_by
        return True

    def end(self, question: AskedQuestion) -> None:
        self._askers.pop(question.id, None)


async def store_problem(
    container: Container, corpus: Corpus, question_id: str, form: VerificationForm, error: HopweaveError
) -> None:
    """Stores why an answer is not verified."""
    await _store(container, corpus, question_id, {"problem": form.problem(error)})


async def verify_stored(
    container: Container, corpus: Corpus, question_id: str, request: AskRequest, limits: Limits, form: VerificationForm
) -> None:
    """Verifies the answer of a stored question with the request that it answers. Stores the result or the problem.

    Raises `NotFound` and `Conflict` if there is no such question, or it has no answer; ends quietly, and asks no model
    any more, if that becomes so meanwhile.
    """
    question = await read_question(container, corpus, question_id)
    if question.answer is None:
        raise nothing_to_verify(question_id)
    progress = _Progress(form)
    trace = Trace(budget=limits.question, listeners=[progress.listen])
    work = verify(container, corpus, request, form.given(question.answer), trace, limits.verification)
    verifying = asyncio.create_task(work, name=f"verifying the answer of question {question_id}")
    try:
        while not verifying.done():
            if not await _store(container, corpus, question_id, progress.dump()):
                verifying.cancel()
                await asyncio.gather(verifying, return_exceptions=True)
                return
            await asyncio.wait({verifying}, timeout=_WRITE_SECONDS)
    except asyncio.CancelledError:
        verifying.cancel()
        await asyncio.gather(verifying, return_exceptions=True)
        await _store(container, corpus, question_id, {"problem": _ENDED})
        raise
    error = verifying.exception()
    if error is None:
        await _store_result(container, corpus, question_id, verifying.result(), form)
        return
    if not isinstance(error, HopweaveError):
        _log.error("a verification failed: %s", describe_bug(error))
    await _store(container, corpus, question_id, {"problem": form.problem(error)})


async def _store_result(
    container: Container, corpus: Corpus, question_id: str, found: Verification, form: VerificationForm
) -> None:
    """Stores the result; the reason instead, if a document that was retrieved for it is gone."""
    documents = {id for _, id in found.retrieved}
    try:
        await container.record.questions.set_verification(
            corpus.id, question_id, {"result": form.verification(found)}, documents
        )
    except (NotFound, Conflict) as error:
        await _store(container, corpus, question_id, {"problem": form.problem(error)})


async def _store(container: Container, corpus: Corpus, question_id: str, stored: dict[str, Any]) -> bool:
    """Stores the state, unless the record does not answer now. Returns False if the question is gone or withdrawn."""
    try:
        await container.record.questions.set_verification(corpus.id, question_id, stored)
    except (NotFound, Conflict):
        return False
    except Unavailable:
        return True
    return True

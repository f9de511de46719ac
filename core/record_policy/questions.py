"""Rules of stored questions: when a question counts as failed, and what is left of a withdrawn question."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from core.errors import Conflict, Fenced, NotFound, RateLimited
from core.questions import QuestionState

TOKEN = "token"  # noqa: S105 - a kind of events
"""The kind of the events that a final answer replaces."""

_RETRY_SECONDS = 5.0
_SHOWN = 200


def make_problem(status: HTTPStatus, detail: str) -> dict[str, Any]:
    """Returns the details of a problem (RFC 9457) that the record itself sets; `instance` is added when it is shown."""
    return {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail}


ENDED = make_problem(HTTPStatus.SERVICE_UNAVAILABLE, "the server ended while the question was answered; ask it again")
"""The problem of a question whose process is gone."""

CANCELLED = make_problem(HTTPStatus.CONFLICT, "the question was cancelled; ask it again")
"""The problem in the last event of a cancelled question."""

WITHDRAWN = make_problem(
    HTTPStatus.CONFLICT,
    "a document that was retrieved has been deleted, and the answer with it; ask the question again",
)
"""The problem in the last event of a question whose answer is withdrawn."""

_WITHDRAWN_MEANWHILE = make_problem(
    HTTPStatus.CONFLICT, "a document that was retrieved was deleted while the question was answered; ask it again"
)


def state_of(
    state: str, problem: Mapping[str, Any] | None, lease_until: float, now: float
) -> tuple[QuestionState, Mapping[str, Any] | None]:
    """Returns the state and the problem that readers see: a running question with an expired lease has failed."""
    if state == QuestionState.RUNNING.value and lease_until < now:
        return QuestionState.FAILED, ENDED
    return QuestionState(state), problem


def withdrawal_problem(state: QuestionState, problem: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Returns the problem of a question that is withdrawn in this state. A stored problem is replaced, since an
    endpoint's message may have the text of a document.
    """
    if not state.final:
        return _WITHDRAWN_MEANWHILE
    return None if problem is None else WITHDRAWN


def without_answers(request: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request whose `history` has the messages of the user only: answers may have the text of a document."""
    history = request.get("history")
    if not history:
        return dict(request)
    return {**request, "history": [message for message in history if message.get("role") == "user"]}


def question_missing(question_id: str) -> NotFound:
    return NotFound(
        f"there is no question {question_id[:_SHOWN]!r} of yours in this corpus; `hopweave questions list` shows those "
        "that there are, and questions that are not kept are deleted after some days"
    )


def not_running(question_id: str) -> Fenced:
    return Fenced(f"question {question_id!r} does not run any more")


def nothing_to_verify(question_id: str) -> Conflict:
    return Conflict(f"question {question_id!r} has no answer to verify; ask it again")


def deleted_meanwhile(question_id: str) -> Conflict:
    return Conflict(
        f"a document that was retrieved was deleted while the answer of question {question_id!r} was verified; verify "
        "it again"
    )


def too_many_running(most: int) -> RateLimited:
    return RateLimited(
        f"{most} of your questions are being answered, as many as this server allows "
        "(HOPWEAVE_QUESTIONS__MAX_RUNNING); wait for one, or cancel one",
        retry_after=_RETRY_SECONDS,
    )

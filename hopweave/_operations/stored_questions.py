"""Questions that the server answers in the background: ask, list, get, wait, keep, cancel, ask again, compare."""

import time
from dataclasses import asdict, replace

from hopweave._errors import InvalidRequestError, WaitTimeoutError
from hopweave._steps import Pause, Request, Steps, call, decode, path, request
from hopweave._values import Budget
from hopweave.wire.answers import Answer
from hopweave.wire.questions import QuestionChanges, QuestionList, StoredQuestion

__all__ = [
    "ask_again",
    "cancel_question",
    "compare_question",
    "delete_question",
    "get_question",
    "keep_question",
    "list_questions",
    "stored",
    "verify_question",
    "wait_for_question",
]

_PAGE = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


def stored(asking: Steps[Answer]) -> Steps[StoredQuestion]:
    """Sends the request of `ask`, to be answered in the background."""
    first = next(asking)
    if not isinstance(first, Request) or not first.path.startswith("/v1/corpora/"):
        raise InvalidRequestError(422, "Unprocessable Entity", "a question in the background is about one corpus")
    return decode(StoredQuestion, (yield replace(first, path=f"{first.path.removesuffix('/ask')}/questions")))


def list_questions(corpus: str, *, kept: bool | None = None, limit: int | None = 50) -> Steps[list[StoredQuestion]]:
    """Returns the newest `limit` questions of this key (all for None), without their answers.

    `kept` selects questions that are kept, or that are not.
    """
    found: list[StoredQuestion] = []
    cursor: str | None = None
    while limit is None or len(found) < limit:
        count = _PAGE if limit is None else min(_PAGE, limit - len(found))
        only = None if kept is None else str(kept).lower()
        page = yield from call(
            QuestionList, "GET", path("corpora", corpus, "questions"), kept=only, limit=count, cursor=cursor
        )
        found += page.data
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def get_question(corpus: str, id: str) -> Steps[StoredQuestion]:
    """Returns the question with this id, with its answer if it has one."""
    return call(StoredQuestion, "GET", _path(corpus, id))


def wait_for_question(corpus: str, id: str, *, timeout: float | None = None) -> Steps[StoredQuestion]:
    """Returns the question with this id once it has ended. One that failed is returned, too.

    Raises `WaitTimeoutError` after `timeout` seconds; by default it waits as long as the answer takes.
    """
    started = time.monotonic()
    pause = _FIRST_PAUSE
    while (found := (yield from get_question(corpus, id))).state == "running":
        if timeout is not None and time.monotonic() - started + pause > timeout:
            raise WaitTimeoutError(f"question {id} is still being answered after {timeout:g} s; it goes on")
        yield Pause(seconds=pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)
    return found


def keep_question(corpus: str, id: str, *, kept: bool = True) -> Steps[StoredQuestion]:
    """Keeps a question, which is else deleted after some days; with `kept=False`, no longer."""
    return call(StoredQuestion, "PATCH", _path(corpus, id), {"kept": kept})


def cancel_question(corpus: str, id: str) -> Steps[StoredQuestion]:
    """Cancels a question that runs and returns it; one that has ended is returned as it is."""
    return call(StoredQuestion, "POST", _path(corpus, id, "cancel"))


def verify_question(corpus: str, id: str, *, budget: Budget | None = None) -> Steps[StoredQuestion]:
    """Starts finding out which documents the answer of a question hangs on, and returns the question.

    `get_question` has the `verification` when it is done. `budget` limits it. Raises `ConflictError` without an answer.
    """
    body = {} if budget is None else {"budget": asdict(budget)}
    return call(StoredQuestion, "POST", _path(corpus, id, "verify"), body)


def ask_again(corpus: str, id: str) -> Steps[StoredQuestion]:
    """Asks a question again, as it was, and returns the new one, which runs."""
    return call(StoredQuestion, "POST", _path(corpus, id, "again"))


def compare_question(corpus: str, id: str) -> Steps[QuestionChanges]:
    """Returns what changed since the question that this one asks again.

    Raises `ConflictError` for one that asks no other one again, and while it is answered.
    """
    return call(QuestionChanges, "GET", _path(corpus, id, "changes"))


def delete_question(corpus: str, id: str) -> Steps[None]:
    """Deletes a question with its answer. One that runs is cancelled."""
    yield request("DELETE", _path(corpus, id))


def _path(corpus: str, id: str, *more: str) -> str:
    return path("corpora", corpus, "questions", id, *more)

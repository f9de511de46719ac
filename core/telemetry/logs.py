"""What a line of the log says beside its message: fields, and the id of the request.

The request id is the name of one request in logs, responses, model calls and, through the job's id, in workers.
"""

import logging
import re
import secrets
from contextvars import ContextVar

HEADER = "X-Request-ID"
OUTGOING_HEADER = "X-Client-Request-Id"
"""The name of the id in calls of other servers, as OpenAI has it. Some servers take an `X-Request-ID` for their own id:
llama-cpp-python's answers 400, without a word, to each that is no UUID.
"""

_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_JOB_DIGITS = 16

_CURRENT: ContextVar[str] = ContextVar("request_id", default="")


def choose_request_id(given: str | None) -> str:
    """Returns the id that a client gives, or a new id if it gives none, or an id that logs and headers cannot have."""
    return given if given is not None and _SANE.fullmatch(given) else secrets.token_hex(8)


def set_request_id(request_id: str) -> None:
    """Sets the id of this task or thread, and of tasks and threads that it starts."""
    _CURRENT.set(request_id)


def current_request_id() -> str:
    """Returns the id of the request that is being served, or ''."""
    return _CURRENT.get()


def new_job_id() -> str:
    """Returns a random id for a job, which begins with the id of the request that makes the job.

    So a worker, which may run on another machine and much later, can name the request in its log.
    """
    digits, request_id = secrets.token_hex(_JOB_DIGITS), current_request_id()
    return f"{request_id}-{digits[:_JOB_DIGITS]}" if request_id else digits


def request_id_of_job(job_id: str) -> str:
    """Returns the id of the request that made the job, or '' if no request did."""
    request_id, dash, digits = job_id.rpartition("-")
    return request_id if dash and len(digits) == _JOB_DIGITS else ""


FIELDS = "hopweave_fields"
"""The attribute of a log record that has the fields."""


def log_event(log: logging.Logger, level: int, message: str, **fields: object) -> None:
    """Logs a message with fields. Neither may hold a question, a passage or an answer. Empty fields are left out."""
    if log.isEnabledFor(level):
        known = {name: value for name, value in fields.items() if value not in ("", None)}
        log.log(level, message, extra={FIELDS: known})

"""Every error that the Python API raises on purpose.

HopweaveError
├── ProblemError                 the server answered with a problem (RFC 9457)
│   ├── InvalidRequestError      400, 408, 413, 415, 422: the call itself is wrong
│   ├── AuthenticationError      401, 403: the key is missing or wrong, or permits less
│   ├── NotFoundError            404
│   ├── ConflictError            409
│   └── UnavailableError         502, 503, 504: a store or a model is away, slow, or refuses
│       └── QueueFullError       429: a limit of the key is used up, or too many documents wait
├── ConnectionFailedError        no server answers at the address
│   └── ServerEndedError         the server process that `hopweave.open` started has ended
├── UnexpectedAnswerError        the answer is not one of this version of Hopweave
└── WaitTimeoutError             a job was not over within the seconds that it was waited for
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

__all__ = [
    "AuthenticationError",
    "ConflictError",
    "ConnectionFailedError",
    "HopweaveError",
    "InvalidRequestError",
    "NotFoundError",
    "ProblemError",
    "QueueFullError",
    "ServerEndedError",
    "UnavailableError",
    "UnexpectedAnswerError",
    "WaitTimeoutError",
    "problem",
]

_LONGEST_DETAIL = 300


class HopweaveError(Exception):
    """The root of all errors of the Python API."""


class ProblemError(HopweaveError):
    """The server answered with a problem: `status`, `title` and `detail` say which.

    `code` is `wrong_settings` where a setting of the server is wrong, else None. `errors` names each field that is
    wrong, as mappings with `field`, `message` and `type`.
    """

    def __init__(
        self, status: int, title: str, detail: str, code: str | None = None, errors: Sequence[Mapping[str, str]] = ()
    ) -> None:
        super().__init__(status, title, detail, code, errors)
        self.status = status
        self.title = title
        self.detail = detail
        self.code = code
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return f"{self.status} {self.title}: {' '.join(self.detail.split())}"


class InvalidRequestError(ProblemError):
    """The call is wrong: a field, the size, or the type of what was sent."""


class AuthenticationError(ProblemError):
    """The server's key is missing or wrong, or does not permit the call."""


class NotFoundError(ProblemError):
    """A corpus, document, chunk or job does not exist, or is being deleted."""


class ConflictError(ProblemError):
    """The thing exists already, or exists in a shape that excludes the call."""


class UnavailableError(ProblemError):
    """A store or a model cannot be reached, or refuses; without `code`, trying again may help."""


class QueueFullError(UnavailableError):
    """As many documents wait to be indexed as the server allows, or a limit of the key is used up. Nothing was written;
    trying again helps after a while.
    """


class ConnectionFailedError(HopweaveError):
    """No server answers at the address."""


class ServerEndedError(ConnectionFailedError):
    """The server process that `hopweave.open` started has ended; the message has the last line of its log."""


class UnexpectedAnswerError(HopweaveError):
    """The answer is not one of this version of Hopweave."""


class WaitTimeoutError(HopweaveError, TimeoutError):
    """A job was not over within the seconds that it was waited for. The job goes on."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    408: InvalidRequestError,
    409: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: QueueFullError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def problem(content: str | bytes, status: int = 500) -> ProblemError:
    """Returns the error for an answer; `content` need not be a problem's JSON, whose own `status` is preferred."""
    details: Any
    try:
        details = json.loads(content)
    except ValueError:  # not a Hopweave server, or a proxy before it
        details = None
    if not isinstance(details, dict) or "title" not in details:
        text = content if isinstance(content, str) else content.decode(errors="replace")
        return _kind(status)(status, _phrase(status), text[:_LONGEST_DETAIL])
    status = details.get("status", status)
    return _kind(status)(
        status, details["title"], details.get("detail", ""), details.get("code"), details.get("errors", ())
    )


def _kind(status: int) -> type[ProblemError]:
    return _BY_STATUS.get(status, ProblemError)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown status"

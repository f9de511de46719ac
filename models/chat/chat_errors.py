"""What an endpoint's client raises on a call of a language model, in the words of Hopweave."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from core.errors import ContextTooLong, HopweaveError, ModelFailed, ModelRefused, ModelUnavailable
from models.endpoint_errors import masked, may_pass

if TYPE_CHECKING:
    import openai

    from core.ports.chat import ChatRequest
    from models.chat.endpoint import Endpoint

__all__ = ["AskedToWait", "FormatRefused", "refusal_of", "unreachable", "words_of"]

_INVALID = {400, 413, 422}
_TOO_LONG = re.compile(
    r"context.?length|context.?(window|size)|maximum context|prompt is too long|input is too long|too many tokens",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured.?outputs?|guided", re.IGNORECASE)
_REMEDIES = {
    401: "check HOPWEAVE_LLM__API_KEY (or the role's own)",
    403: "check what HOPWEAVE_LLM__API_KEY may use",
    404: "check HOPWEAVE_LLM__MODEL and HOPWEAVE_LLM__BASE_URL (or the role's own)",
}


class AskedToWait(ModelUnavailable):
    """The endpoint said for how long to leave it alone."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class FormatRefused(ModelFailed):
    """The endpoint does not know the kind of structured output that was asked for; or, with `schema`, knows it and
    refuses this one schema.
    """

    def __init__(self, message: str, *, schema: bool) -> None:
        super().__init__(message)
        self.schema = schema


def refusal_of(error: "openai.APIStatusError", endpoint: "Endpoint", model: str, request: "ChatRequest") -> Exception:
    """The error for an answer that is no success."""
    status = error.status_code
    words = words_of(error, endpoint, request)
    said = f"{model} at {endpoint.url} answered {status}" + (f": {words}" if words else "")
    if may_pass(status):
        wait = _seconds(error.response.headers.get("retry-after", ""))
        return ModelUnavailable(said) if wait is None else AskedToWait(said, wait)
    if status in _INVALID and (error.code == "context_length_exceeded" or _TOO_LONG.search(_said(error))):
        return ContextTooLong(f"{said} (about {_tokens(request)} tokens were sent for {request.role!r})")
    if status in _INVALID and request.schema is not None and _FORMAT.search(f"{error.param} {_said(error)}"):
        return FormatRefused(said, schema="invalid schema" in _said(error).lower())
    if status in _REMEDIES:
        return ModelRefused(f"{said}; {_REMEDIES[status]}")
    return ModelFailed(said)


def unreachable(error: BaseException, endpoint: "Endpoint", model: str, request: "ChatRequest") -> HopweaveError:
    """The error for a connection that could not be made, or broke."""
    import openai

    at = f"{model} at {endpoint.url}"
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelUnavailable(f"{at} did not answer within {endpoint.timeout:g} s; HOPWEAVE_LLM__TIMEOUT allows more")
    words = words_of(error.__cause__ or error, endpoint, request)
    return ModelUnavailable(f"{at} cannot be reached ({words}): start it, or correct HOPWEAVE_LLM__BASE_URL")


def words_of(error: BaseException, endpoint: "Endpoint", request: "ChatRequest") -> str:
    """What the endpoint, or the connection to it, said: without the key, and '' where it repeats the prompt."""
    private = [message.content for message in request.messages]
    return masked(_said(error), endpoint.key, [*private, request.question])


def _said(error: BaseException) -> str:
    """OpenAI's own servers tell a message; others may answer with any text."""
    import openai

    body: Any = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    if isinstance(message, str):
        return message
    return error.response.text.strip() if isinstance(error, openai.APIStatusError) else str(error)


def _tokens(request: "ChatRequest") -> int:
    return sum(len(message.content) for message in request.messages) // 4


def _seconds(header: str) -> float | None:
    """`Retry-After`: seconds, or a date; None where it is neither."""
    if re.fullmatch(r"\d+(\.\d+)?", header.strip()):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())

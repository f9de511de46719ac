"""Converts the errors of a chat call to Hopweave's."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from core.errors import ContextTooLong, HopweaveError, ModelFailed, ModelRefused, ModelUnavailable
from models.endpoint_errors import (
    NOT_FOUND,
    describe_address,
    describe_offered,
    is_transient,
    mask_secrets,
    names_unknown_model,
    show_address,
)

if TYPE_CHECKING:
    import openai

    from core.ports.chat import ChatRequest
    from models.chat.endpoint import Endpoint


NO_REFUSAL = {401, 403, 404, 408, 409, 429, 502, 503, 504}
"""Statuses that say nothing of a field of the request, whatever words come with them. Servers answer a field that they
do not know with 400, 422, 500 or 501.
"""
_TOO_LONG = re.compile(
    r"context.?length|context.?(window|size)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|tokens \+ .max_new_tokens",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_format|json.?schema|json_object|structured.?outputs?|guided", re.IGNORECASE)
_THIS_SCHEMA = re.compile(r"invalid (json )?schema|schema error", re.IGNORECASE)
"""OpenAI and Ollama ("invalid JSON schema in format", with status 500); llama-server."""
_REFUSALS = {400, 422}
_REMEDIES = {
    401: "check HOPWEAVE_LLM__API_KEY (or the role's own)",
    403: "check what HOPWEAVE_LLM__API_KEY may use",
}
ADDRESS = "HOPWEAVE_LLM__BASE_URL (or the role's own)"
_MODEL = "HOPWEAVE_LLM__MODEL (or the role's own)"
_TOO_MANY = 429
_SLOWER = (
    "HOPWEAVE_LLM__REQUESTS_PER_MINUTE and HOPWEAVE_LLM__TOKENS_PER_MINUTE keep below its limits, if it has some, and "
    "HOPWEAVE_LLM__CONCURRENCY=1 asks one thing at a time"
)
_LONGEST_ADDRESS = 200
_BROKEN = frozenset({"RemoteProtocolError", "ReadError", "WriteError", "ConnectionError", "ConnectionResetError"})
"""Errors of a connection that was open, by name: the client has a copy of httpx of its own."""


class RetryLater(ModelUnavailable):
    """The endpoint sent `Retry-After`; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServerFault(ModelUnavailable):
    """The endpoint answered 500 or 501, and named nothing that it refuses."""


class Unexplained(ModelFailed):
    """The endpoint answered 400 or 422 to a request for JSON, in words that name nothing known."""


class FormatRefused(ModelFailed):
    """The endpoint does not support the requested kind of structured output; with `schema`, it supports the kind but
    refuses this schema.
    """

    def __init__(self, message: str, *, schema: bool) -> None:
        super().__init__(message)
        self.schema = schema


def convert_status_error(
    error: "openai.APIStatusError",
    endpoint: "Endpoint",
    model: str,
    request: "ChatRequest",
    offered: Sequence[str] = (),
) -> Exception:
    """Returns the error for an HTTP status that is not a success. `offered` are the models that the endpoint has."""
    status = error.status_code
    words = error_text(error, endpoint, request)
    said = f"{model} at {endpoint.url} answered {status}" + (f": {words}" if words else "")
    if status not in NO_REFUSAL:
        told = _said(error)
        if refusal := _find_refusal(error, told, said, request):
            return refusal
    if is_transient(status):
        return _convert_transient(error, said)
    if error.response.has_redirect_location:
        return ModelRefused(f"{said}, {_describe_redirect(error, endpoint)}")
    if names_unknown_model(error):
        there = mask_secrets(describe_offered(offered, model), endpoint.key)
        return ModelRefused(f"{said}; check {_MODEL}: {there}" if there else f"{said}; check {_MODEL}")
    if status == NOT_FOUND:
        return ModelRefused(f"{said}; {describe_address(endpoint.address, ADDRESS, f' and {_MODEL}')}")
    if status in _REMEDIES:
        return ModelRefused(f"{said}; {_REMEDIES[status]}")
    if request.schema is not None and status in _REFUSALS:
        return Unexplained(said)
    return ModelFailed(said)


def _convert_transient(error: "openai.APIStatusError", said: str) -> ModelUnavailable:
    status, wait = error.status_code, _seconds(error.response.headers.get("retry-after", ""))
    said += f"; it asks to wait for {wait:,.0f} s" if wait is not None else ""
    said += f"; {_SLOWER}" if status == _TOO_MANY else ""
    if wait is not None:
        return RetryLater(said, wait)
    return ModelUnavailable(said) if status in NO_REFUSAL else ServerFault(said)


def convert_stream_error(
    error: "openai.APIError", endpoint: "Endpoint", model: str, request: "ChatRequest", *, begun: bool
) -> HopweaveError:
    """Returns the error for an error event of a stream, whose HTTP status was sent before.

    An endpoint that has begun to answer has accepted the request: whatever the error says, it refuses no part of it.
    """
    said = f"step {request.role!r}: {model} at {endpoint.url} ended its answer with an error: "
    said += error_text(error, endpoint, request)
    refusal = None if begun else _find_refusal(error, _said(error), said, request)
    return refusal or ModelFailed(said)


def make_too_long(said: str, request: "ChatRequest") -> ContextTooLong:
    return ContextTooLong(f"{said} (about {_tokens(request)} tokens were sent for {request.role!r})")


def _find_refusal(
    error: "openai.APIError", told: str, said: str, request: "ChatRequest"
) -> ContextTooLong | FormatRefused | None:
    """Returns what an endpoint's own words (`told`) refuse: the length of a prompt, or a form of the answer."""
    if error.code == "context_length_exceeded" or _TOO_LONG.search(told):
        return make_too_long(said, request)
    if request.schema is not None and _FORMAT.search(f"{error.param} {told}"):
        return FormatRefused(said, schema=bool(_THIS_SCHEMA.search(told)))
    return None


def convert_connection_error(
    error: BaseException, endpoint: "Endpoint", model: str, request: "ChatRequest"
) -> HopweaveError:
    """Returns the error for a connection that failed or broke."""
    import openai

    at = f"{model} at {endpoint.url}"
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelUnavailable(f"{at} did not answer within {endpoint.timeout:g} s; HOPWEAVE_LLM__TIMEOUT allows more")
    cause = error.__cause__ or error
    words = error_text(cause, endpoint, request)
    if type(cause).__name__ in _BROKEN:
        return ModelUnavailable(
            f"{at} closed the connection before its answer was whole ({words}): its own log says why; "
            "a server that runs out of memory ends so, too"
        )
    return ModelUnavailable(f"{at} cannot be reached ({words}): start it, or correct HOPWEAVE_LLM__BASE_URL")


def _describe_redirect(error: "openai.APIStatusError", endpoint: "Endpoint") -> str:
    location = show_address(str(error.response.url.join(error.response.headers["location"])))
    shown = mask_secrets(location[:_LONGEST_ADDRESS], endpoint.key)
    return (
        f"a redirect to {shown}, which is not followed, since the prompt would go where no setting sends it: "
        f"set {ADDRESS} to the address that answers"
    )


def error_text(error: BaseException, endpoint: "Endpoint", request: "ChatRequest") -> str:
    """Returns the message of the endpoint or connection, without the key; '' if it repeats the prompt."""
    private = [message.content for message in request.messages]
    return mask_secrets(_said(error), endpoint.key, [*private, request.question])


def _said(error: BaseException) -> str:
    """Returns the message of the response body; servers other than OpenAI's may send any text."""
    import openai

    body: Any = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    if isinstance(message, str):
        return message
    return error.response.text.strip() if isinstance(error, openai.APIStatusError) else str(error)


def _tokens(request: "ChatRequest") -> int:
    return sum(len(message.content) for message in request.messages) // 4


def _seconds(header: str) -> float | None:
    """Parses `Retry-After`, which is seconds or a date; returns None if it is neither."""
    if re.fullmatch(r"\d+(\.\d+)?", header.strip()):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())

"""Problems in the forms that other products' clients read. Open it to change how an error looks under their routes.

`convert_problem` is called for every problem, so that refusals before a route (a missing key, a body too large) have
the form, too.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

_TEXT = {"type": "string"}
_NULLABLE = {"anyOf": [_TEXT, {"type": "null"}]}
OPENAI_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {"message": _TEXT, "type": _TEXT, "param": _NULLABLE, "code": _NULLABLE},
        }
    },
}
OLLAMA_ERROR: dict[str, Any] = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}
DIFY_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error_code", "error_msg"],
    "properties": {
        "error_code": {
            "type": "integer",
            "description": "1001: the header `Authorization` is missing or malformed; 1002: the key is refused; 2001: "
            "there is no such corpus; else the status.",
        },
        "error_msg": _TEXT,
    },
}

NO_PREVIOUS_RESPONSE = "previous_response_not_found"
"""The `code` of a `previous_response_id` that names no response of the caller."""

_MALFORMED_AUTHORIZATION = 1001
_REFUSED_KEY = 1002
_NO_KNOWLEDGE = 2001
_OPENAI_CODES = {
    HTTPStatus.UNAUTHORIZED: "invalid_api_key",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded",
}
_OPENAI_TYPES = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}


def convert_problem(
    details: Mapping[str, Any], headers: Mapping[str, str]
) -> tuple[int, dict[str, Any], dict[str, str]] | None:
    """Returns status, body and headers of a problem in the form of the protocol that its path (`instance`) belongs to;
    None if it belongs to none. A field that is wrong is a 400 there, as at the originals.
    """
    path, status = details["instance"], HTTPStatus(details["status"])
    if status is HTTPStatus.UNPROCESSABLE_ENTITY:
        status = HTTPStatus.BAD_REQUEST
    if _is_openai(path):
        return status, openai_error(details), {**headers, **_advise_retry(status, headers)}
    if path.startswith("/api/"):
        return status, ollama_error(details), dict(headers)
    if path.startswith("/dify/"):
        body = dify_error({**details, "status": status}, headers)
        return HTTPStatus.FORBIDDEN if status is HTTPStatus.UNAUTHORIZED else status, body, dict(headers)
    return None


def describe_errors(name: str) -> dict[int | str, dict[str, Any]]:
    """Returns the error responses of a protocol's routes for the OpenAPI description, by the name of their schema."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {
        status: {"description": "An error in this protocol's form", "content": content} for status in ("4XX", "5XX")
    }


def openai_error(details: Mapping[str, Any]) -> dict[str, Any]:
    """Returns OpenAI's form of a problem, for a response or an event of a stream."""
    status = HTTPStatus(details["status"])
    fields = details.get("errors") or [{}]
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    param, code = fields[0].get("field"), details.get("code") or _OPENAI_CODES.get(status)
    if status is HTTPStatus.NOT_FOUND and _names_model(details["instance"]):
        param, code = "model", "model_not_found"
    elif fields[0].get("type") == NO_PREVIOUS_RESPONSE:
        code = NO_PREVIOUS_RESPONSE
    error = {"message": details["detail"], "type": _OPENAI_TYPES.get(status, kind), "param": param, "code": code}
    return {"error": error}


def ollama_error(details: Mapping[str, Any]) -> dict[str, Any]:
    """Returns Ollama's form of a problem."""
    return {"error": details["detail"]}


def dify_error(details: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Returns Dify's form of a problem. `WWW-Authenticate` tells a refused key from a header that has none."""
    status = HTTPStatus(details["status"])
    code = int(status)
    if status is HTTPStatus.UNAUTHORIZED:
        was_shown = "error=" in headers.get("WWW-Authenticate", "")
        code = _REFUSED_KEY if was_shown else _MALFORMED_AUTHORIZATION
    elif status is HTTPStatus.FORBIDDEN:
        code = _REFUSED_KEY
    elif status is HTTPStatus.NOT_FOUND:
        code = _NO_KNOWLEDGE
    return {"error_code": code, "error_msg": details["detail"]}


def _names_model(path: str) -> bool:
    """Whether the route takes the name of a model, so that it is what was not found."""
    return path in {"/v1/chat/completions", "/v1/responses", "/v1/embeddings"} or path.startswith("/v1/models/")


def _is_openai(path: str) -> bool:
    return path in {"/v1/models", "/v1/embeddings", "/v1/responses"} or path.startswith(
        ("/v1/chat/", "/v1/models/", "/v1/responses/")
    )


def _advise_retry(status: HTTPStatus, headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the header that keeps OpenAI's clients from repeating what would fail, and cost, again."""
    repeats = status is HTTPStatus.CONFLICT or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return {"x-should-retry": "false"} if repeats and "Retry-After" not in headers else {}

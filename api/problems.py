"""Errors as RFC 9457 problem details: the table from errors to statuses, and the handlers that use it.

Open it to give a new error its status.
"""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from api.page.responses import show_missing
from api.protocols.errors import convert_problem
from core import errors
from core.faults import describe_fault, strip_labels
from core.telemetry.logs import HEADER, current_request_id

_log = logging.getLogger("hopweave.api")

_STATUS: dict[type[errors.HopweaveError], HTTPStatus] = {
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidSettings: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.LoadFailed: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.QueueFull: HTTPStatus.TOO_MANY_REQUESTS,
    errors.FolderHeld: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.Fenced: HTTPStatus.CONFLICT,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ModelUnavailable: HTTPStatus.BAD_GATEWAY,
    errors.ModelFailed: HTTPStatus.BAD_GATEWAY,
    errors.TimedOut: HTTPStatus.GATEWAY_TIMEOUT,
    errors.BudgetExhausted: HTTPStatus.GATEWAY_TIMEOUT,
}
WRONG_SETTINGS = "wrong_settings"
"""The `code` of an error in this server's settings: no client caused it, and trying again does not help."""
STARTING = "starting"
"""The `code` of a server that answers, but not yet quickly."""

_REJECTED = "rejected"
_EXISTS = "exists"
_RETRY_SECONDS = "5"
_CLIENT_CLOSED_REQUEST = 499  # as nginx calls it
_LISTED, _TOLD = 20, 5
"""Faults of a body that a problem lists, and that its text tells."""
_UNFORESEEN = "the server failed to answer this request; its log has the reason"
_MEDIA_TYPE = "application/problem+json"
PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title", "detail", "instance")},
        "status": {"type": "integer"},
        "code": {
            "type": "string",
            "enum": [WRONG_SETTINGS, STARTING],
            "description": "Of a 503. `wrong_settings`, without `Retry-After`: a setting is wrong, or a server refuses "
            "it; `detail` names it, and the error stays until the setting is corrected. `starting`: the server loads "
            "models and snapshots; requests are answered, and the first ones take longer.",
        },
        "request_id": {"type": "string", "description": "The id of the request, as in `X-Request-ID` and the log."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("field", "message", "type")},
            },
        },
    },
}
_REFERENCE = {"schema": {"$ref": "#/components/schemas/Problem"}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": "A problem (RFC 9457)", "content": {_MEDIA_TYPE: _REFERENCE}} for status in ("4XX", "5XX")
}
"""The error responses of every route, for the OpenAPI description."""


def problem(
    status: int,
    detail: str,
    *,
    instance: str,
    code: str | None = None,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Returns a response with the problem's details; `errors` lists the fields that are wrong.

    Under the routes of other protocols it has their form (`api.protocols.errors`).
    """
    content = _details(status, detail, instance, code)
    if errors:
        content["errors"] = list(errors)
    more = dict(headers or {})
    if request_id := current_request_id():  # the middleware that adds it does not see answers to unexpected errors
        more[HEADER] = request_id
    converted = convert_problem(content, more)
    if converted is not None:
        status, content, more = converted
        return Response(json.dumps(content), status_code=status, media_type="application/json", headers=more)
    return Response(json.dumps(content), status_code=status, media_type=_MEDIA_TYPE, headers=more)


def details_of(error: BaseException, instance: str) -> dict[str, Any]:
    """Returns the problem of an error, for a response that has already begun and cannot change its status."""
    if isinstance(error, errors.HopweaveError):
        return _details(_status(error), str(error), instance, _code(error))
    return _details(HTTPStatus.INTERNAL_SERVER_ERROR, _UNFORESEEN, instance)


_NO_REASON = "There was an error parsing the body"
"""What FastAPI says of a body that cannot be parsed as JSON for another reason than its syntax."""
_UNREADABLE = {
    RecursionError: "the body is not valid JSON: its brackets are nested too deeply",
    UnicodeDecodeError: "the body is not valid JSON: it is not UTF-8",
}
"""The messages for a body that cannot be parsed, by the error of the parser."""


def install(app: FastAPI) -> None:
    """Registers the handlers, so that the app answers every error with a problem."""
    app.add_exception_handler(errors.HopweaveError, _handle_hopweave_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid_body)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(ClientDisconnect, _handle_disconnect)


def _details(status: int, detail: str, instance: str, code: str | None = None) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": instance,
        **({"code": code} if code else {}),
        **({"request_id": request_id} if (request_id := current_request_id()) else {}),
    }


def _status(error: errors.HopweaveError) -> HTTPStatus:
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def _code(error: errors.HopweaveError) -> str | None:
    return WRONG_SETTINGS if isinstance(error, errors.InvalidSettings) else None


def problem_of(error: errors.HopweaveError, instance: str) -> Response:
    """Returns the response to an error that Hopweave raises on purpose."""
    status = _status(error)
    code = _code(error)
    headers = None
    if isinstance(error, errors.RateLimited):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    elif code is None and (
        isinstance(error, errors.Unavailable | errors.QueueFull) or status is HTTPStatus.SERVICE_UNAVAILABLE
    ):
        headers = {"Retry-After": _RETRY_SECONDS}
    return problem(status, str(error), instance=instance, code=code, errors=_list_fields(error), headers=headers)


def _handle_hopweave_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.HopweaveError)  # noqa: S101 - registered for nothing else
    return problem_of(error, request.url.path)


def _list_fields(error: errors.HopweaveError) -> list[dict[str, str]]:
    """Returns the files that were rejected, or the keys that exist; else nothing."""
    if isinstance(error, errors.FilesRejected):
        return [{"field": source, "message": reason, "type": _REJECTED} for source, reason in error.rejected]
    if isinstance(error, errors.KeysExist):
        return [{"field": key, "message": "a document with this key exists", "type": _EXISTS} for key in error.keys]
    return []


def _handle_disconnect(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler's signature
    """Returns an empty response: the client is gone and reads none."""
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


def _handle_invalid_body(request: Request, error: Exception) -> Response:
    """Names the fields that are wrong, without their values: these may be long, secret, or no valid Unicode."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        why = found[0].get("ctx", {}).get("error", "it cannot be parsed")
        detail = f"the body is not valid JSON: {why} at character {found[0]['loc'][-1]}"
        return problem(HTTPStatus.BAD_REQUEST, detail, instance=request.url.path)
    fields = [
        {"field": _place(one["loc"]), "message": describe_fault(one), "type": one["type"]} for one in found[:_LISTED]
    ]
    detail = "; ".join(f"{field['field']}: {field['message']}" for field in fields[:_TOLD])
    if len(found) > _LISTED:
        detail += f"; and {len(found) - _TOLD:,} more, of which the first are in `errors`"
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, instance=request.url.path, errors=fields)


def _place(location: Sequence[str | int]) -> str:
    """Returns `documents[3].key` for ("body", "documents", 3, "key")."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in strip_labels(location[1:]))
    return place.removeprefix(".") or str(location[0])


def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    if error.status_code == HTTPStatus.NOT_FOUND and (shown := show_missing(request)) is not None:
        return shown
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_list_methods(request)) or headers.get("Allow", "")
    detail = _UNREADABLE.get(type(error.__cause__), error.detail) if error.detail == _NO_REASON else error.detail
    return problem(error.status_code, detail, instance=request.url.path, headers=headers)


def _list_methods(request: Request) -> list[str]:
    """Returns the methods of all routes of the path, as described. The router knows only the first route's methods."""
    parts = request.url.path.split("/")
    routes = [one for one in request.app.state.routes if isinstance(one, APIRoute) and one.include_in_schema]
    fitting = [route.path_format for route in routes if _fits(route.path_format.split("/"), parts)]
    most_literal = min(fitting, key=lambda path: path.count("{"), default="")
    return sorted({method for route in routes if route.path_format == most_literal for method in route.methods or ()})


def _fits(template: Sequence[str], parts: Sequence[str]) -> bool:
    pairs = zip(template, parts, strict=False)
    return len(template) == len(parts) and all(one == part or (one[:1] == "{" and part) for one, part in pairs)


def unforeseen(instance: str) -> Response:
    """Returns the response to an error that nobody foresaw. Its text may hold anything, and is not sent."""
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, _UNFORESEEN, instance=instance)

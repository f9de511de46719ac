"""The OpenAPI description of a streamed answer, made from the schemas of its events."""

from typing import Any

from api.problems import PROBLEM
from api.schemas.naming import schema_of
from hopweave.wire.events import EVENTS

_Schema = dict[str, Any]


def _inline(schema: Any, parts: _Schema) -> Any:
    """Returns the schema with its references replaced by the schemas that they name."""
    if isinstance(schema, list):
        return [_inline(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {key: _inline(value, parts) for key, value in schema.items()}


def _event(name: str, data: _Schema) -> _Schema:
    text = {"type": "string", "contentMediaType": "application/json", "contentSchema": data}
    return {
        "title": name,
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {"id": {"type": "string"}, "event": {"const": name}, "data": text},
    }


def _data(value: type[Any]) -> _Schema:
    inlined: _Schema = _inline(*schema_of(value))
    return inlined


_SEEN = "The client has seen the last event: `Last-Event-ID` is its id."
_EVENTS = [
    *(_event(name, _data(value)) for name, value in EVENTS.items() if name != "answer"),
    _event("answer", {"$ref": "#/components/schemas/AnswerOut"}),
    _event("error", PROBLEM),
]
ASK_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream`, server-sent events until the answer.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "description": "One event; `data` is JSON. After any number of other events, exactly one `answer` "
                    "or `error` ends the stream. A comment `: ping` is sent after 15 seconds without an event.",
                    "oneOf": _EVENTS,
                }
            }
        },
    }
}
JOB_EVENTS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events until the job has ended or is paused.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "description": "One event; `data` is JSON. Any number of `progress`, then one `end` or `error`. "
                    "A comment `: ping` is sent after 15 seconds without an event.",
                    "oneOf": [
                        _event("progress", {"$ref": "#/components/schemas/JobOut"}),
                        _event("end", {"$ref": "#/components/schemas/JobOut"}),
                        _event("error", PROBLEM),
                    ],
                }
            }
        },
    },
    204: {"description": _SEEN},
}
QUESTION_EVENTS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events until the answer.", "content": ASK_RESPONSES[200]["content"]},
    204: {"description": _SEEN},
}

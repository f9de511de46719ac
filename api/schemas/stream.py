"""How the description of the API tells of an answer's events."""

from typing import Any

from pydantic import BaseModel

from api.problems import PROBLEM
from api.schemas.events import DATA

__all__ = ["ASK_RESPONSES"]

_Schema = dict[str, Any]


def _inlined(schema: Any, parts: _Schema) -> Any:
    """The schema with its references replaced by what they name."""
    if isinstance(schema, list):
        return [_inlined(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {key: _inlined(value, parts) for key, value in schema.items() if key != "$defs"}


def _event(name: str, data: _Schema) -> _Schema:
    return {
        "title": name,
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {"id": {"type": "string"}, "event": {"const": name}, "data": data},
    }


def _data(shape: type[BaseModel]) -> _Schema:
    schema = shape.model_json_schema()
    inlined: _Schema = _inlined(schema, schema.get("$defs", {}))
    return inlined


_EVENTS = [
    *(_event(name, _data(shape)) for name, shape in DATA.items()),
    _event("answer", {"$ref": "#/components/schemas/AnswerOut"}),
    _event("error", PROBLEM),
]
ASK_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream`, what happens on the way to it as server-sent events.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "description": "One event; `data` is JSON. Any number of the others, then exactly one `answer` or "
                    "`error`. A comment `: ping` is sent whenever nothing else was for 15 seconds.",
                    "oneOf": _EVENTS,
                }
            }
        },
    }
}

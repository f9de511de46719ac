"""Metadata filters as the OpenAPI description has them. `core.filters` reads them, and its messages name what is wrong.

Open it to change what is said of `filter` in bodies and in queries.
"""

from typing import Annotated, Any

from pydantic import WithJsonSchema

__all__ = ["FILTER", "FILTER_SCHEMAS", "FilterIn", "SelectiveFilterIn"]

_PREFIX = "#/components/schemas/"
_FILTER, _CONDITION, _TEXT_CONDITION = "Filter", "FilterCondition", "FilterTextCondition"

_TEXT: dict[str, Any] = {"type": "string"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_ORDERED: dict[str, Any] = {"type": ["string", "number"]}


FILTER: dict[str, Any] = {"$ref": _PREFIX + _FILTER}

FilterIn = Annotated[dict[str, Any], WithJsonSchema(FILTER)]
SelectiveFilterIn = Annotated[dict[str, Any], WithJsonSchema({"allOf": [FILTER], "minProperties": 1})]
"""A filter that does not match every document."""


def _describe_condition(scalar: dict[str, Any], ordered: dict[str, Any]) -> dict[str, Any]:
    many = {"type": "array", "items": scalar}
    operators = {
        **dict.fromkeys(("$eq", "$ne", "$contains"), scalar),
        **dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), ordered),
        **dict.fromkeys(("$in", "$nin"), many),
        "$prefix": _TEXT,
        "$exists": {"type": "boolean"},
    }
    whole = {"type": "object", "properties": operators, "additionalProperties": False, "minProperties": 1}
    return {"anyOf": [scalar, whole]}


def _describe_filter() -> dict[str, Any]:
    many = {"type": "array", "items": FILTER, "minItems": 1}
    return {
        "type": "object",
        "description": "Fields of the metadata, or of the document, with a value or with operators; all must match. "
        "At most 5 levels and 100 values.",
        "properties": {"$and": many, "$or": many, "$not": FILTER},
        "patternProperties": {
            "^([^$]|$)": {"$ref": _PREFIX + _CONDITION},
            r"^\$(key|id|title)$": {"$ref": _PREFIX + _TEXT_CONDITION},
        },
        "additionalProperties": False,
    }


FILTER_SCHEMAS: dict[str, dict[str, Any]] = {
    _FILTER: _describe_filter(),
    _CONDITION: _describe_condition(_SCALAR, _ORDERED),
    _TEXT_CONDITION: _describe_condition(_TEXT, _TEXT),
}
"""The components to which `FILTER` refers."""

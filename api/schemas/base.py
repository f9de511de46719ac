"""The bases of all schemas, and the fields that several of them use."""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    JsonValue,
    StrictBool,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app.services.questions import MAX_QUESTION
from core.text.characters import NO_CHARACTER, is_valid_text


def _check_whole(text: str) -> str:
    if not is_valid_text(text):
        raise ValueError(NO_CHARACTER)
    return text


Text = Annotated[str, AfterValidator(_check_whole)]
"""A string of whole characters: JSON can hold halves of surrogate pairs, which no store takes."""

NOT_BLANK: dict[str, JsonValue] = {"minLength": 1, "maxLength": MAX_QUESTION, "pattern": r"[^\s\x1c-\x1f\x85]"}
"""What a schema says of a question. The service checks it, whose message tells what to do.

Python has the blanks of JSON schema's regular expressions, and five more.
"""

NULL: dict[str, JsonValue] = {"type": "null"}


def needs_name(options: str, name: str) -> dict[str, JsonValue]:
    """Returns what a schema says of a body: the field `options` is empty unless the field `name` has a value."""
    return {
        "anyOf": [
            {"required": [name], "properties": {name: {"type": "string"}}},
            {"properties": {options: {"maxProperties": 0}}},
        ]
    }


def _check_number(value: object) -> object:
    if isinstance(value, bool | str):
        # pydantic makes a fault of a ValueError only
        raise ValueError(  # noqa: TRY004
            f"a number is needed, not {'true or false' if isinstance(value, bool) else 'a string'}"
        )
    return value


_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def _name_bounds(schema: Any) -> None:
    """Gives the bounds of numbers the names that JSON schema has for them.

    Where a number may be null, pydantic writes its own names for the bounds of a type with a validator.
    """
    if isinstance(schema, list):
        for one in schema:
            _name_bounds(one)
    elif isinstance(schema, dict):
        for own, name in _BOUNDS.items():
            if isinstance(schema.get(own), int | float):
                schema[name] = schema.pop(own)
        for one in schema.values():
            _name_bounds(one)


Flag = StrictBool
Number = Annotated[float, BeforeValidator(_check_number)]
Whole = Annotated[int, BeforeValidator(_check_number)]
"""Numbers, and true or false, as JSON has them: pydantic alone takes `"5"` and `true` for numbers, and 1 for true."""

_MOST_FIELDS = 100


class LenientIn(BaseModel):
    """A body, or a part of one, in which unknown fields are ignored: other protocols get new ones."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        _name_bounds(handler.resolve_ref_schema(schema).get("properties", {}))
        return schema


class In(LenientIn):
    """A request body. An unknown field is an error that names it, so that a typo is not ignored.

    Of an object with more fields than any request has, none is named: each costs time.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > _MOST_FIELDS:
            raise ValueError(f"an object has {len(given):,} fields, more than {_MOST_FIELDS}")
        return given


class Out(BaseModel):
    """A response body, made from the attributes of a value of `core`."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


_PREFIX = "#/components/schemas/"
_FILTER, _CONDITION, _TEXT_CONDITION = "Filter", "FilterCondition", "FilterTextCondition"

_TEXT: dict[str, Any] = {"type": "string"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_ORDERED: dict[str, Any] = {"type": ["string", "number"]}

FILTER: dict[str, Any] = {"$ref": _PREFIX + _FILTER}

FilterIn = Annotated[dict[str, Any], WithJsonSchema(FILTER)]
"""A metadata filter. `core.filters` reads it, whose messages name what is wrong."""
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

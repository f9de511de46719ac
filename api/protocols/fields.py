"""Parameters of other protocols that are ignored or refused, declared so that pages and tests can list them."""

from typing import Any

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from api.schemas.base import In

__all__ = ["HONOURED", "IGNORED", "REFUSED", "ProtocolIn", "ignored", "list_treatments", "refused"]

HONOURED = "honoured"
IGNORED = "ignored"
REFUSED = "refused"
_TREATMENT = "x-treatment"
_NOTHING: tuple[object, ...] = (None, False, "", [], {})


def ignored() -> Any:
    """Returns a field that is accepted and has no effect."""
    return Field(default=None, description="Ignored.", json_schema_extra={_TREATMENT: IGNORED})


def refused(why: str, *harmless: Any) -> Any:
    """Returns a field that is refused, with the reason, unless it has nothing to say, or one of the `harmless` values.

    It works in a `ProtocolIn`.
    """
    schema: dict[str, Any] = {_TREATMENT: REFUSED, "enum": [*_NOTHING, *harmless]}
    return Field(default=None, description=f"Refused: {why}.", json_schema_extra=schema)


def list_treatments(model: type[BaseModel]) -> dict[str, str]:
    """Returns for each field of a body whether it is honoured, ignored or refused."""
    found = {}
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        found[name] = str(extra.get(_TREATMENT, HONOURED)) if isinstance(extra, dict) else HONOURED
    return found


class ProtocolIn(In):
    """A body of another protocol. Parameters that the protocol does not have are errors, as in all bodies."""

    @field_validator("*", mode="before")
    @classmethod
    def _refuse(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[info.field_name or ""]
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get(_TREATMENT) == REFUSED:
            allowed = extra["enum"]
            if isinstance(allowed, list) and not any(_is_same(value, one) for one in allowed):
                raise ValueError(str(field.description).removesuffix("."))
        return value


def _is_same(value: object, other: object) -> bool:
    """Returns whether JSON has them for the same: it tells 0 from false, which Python does not."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)

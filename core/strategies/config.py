"""`StrategyConfig`: the base of the options of strategies, and their presets."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["PRESET", "StrategyConfig", "preset_field"]

PRESET = "preset"
_PRESETS = "presets"


class StrategyConfig(BaseModel):
    """The base of each strategy's `Config`: frozen, and an unknown option is an error that names it.

    A strategy with named sets of options has a field `preset` of `preset_field`. An option that is given beside a
    preset takes precedence over it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or PRESET not in cls.model_fields:
            return given
        extra = cls.model_fields[PRESET].json_schema_extra
        presets = cast("Mapping[str, Mapping[str, Any]]", extra[_PRESETS] if isinstance(extra, dict) else {})
        chosen = given.get(PRESET)
        return {**(presets.get(chosen, {}) if isinstance(chosen, str) else {}), **given}


def preset_field(**presets: Mapping[str, Any]) -> Any:
    """Returns the field `preset` of a `Config`, with the options of each preset; they are part of its JSON schema.

    Its type is a `Literal` of '' and the names.
    """
    return Field(
        default="",
        description="A named set of options, listed under `presets`; an option that is given takes precedence.",
        json_schema_extra={_PRESETS: {name: dict(options) for name, options in presets.items()}},
    )

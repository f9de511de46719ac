"""Strategies by name: how they are written, their options and presets, and their modules.

- `StrategySpec`: a strategy as users write it, `NAME[:key=value,…]`, and its parsing.
- `StrategyConfig`: the base of the options of strategies, and their presets.
- The modules of strategies: finding them by name, reading their options, building and describing them.
"""

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import InvalidStrategy
from core.faults import describe_faults
from core.text.characters import NO_CHARACTER, find_half, is_valid_text

_PRESET = "preset"
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
        if not isinstance(given, Mapping) or _PRESET not in cls.model_fields:
            return given
        extra = cls.model_fields[_PRESET].json_schema_extra
        presets = cast("Mapping[str, Mapping[str, Any]]", extra[_PRESETS] if isinstance(extra, dict) else {})
        chosen = given.get(_PRESET)
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


MAX_SPEC_LENGTH = 4_000
"""Characters of a strategy with its options. It is read on the event loop."""


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy's name with its options, such as `vanilla:searcher=sparse,k=7`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return self.name + ":" + ",".join(f"{key}={_show(value)}" for key, value in self.options.items())


def parse_spec(text: str) -> StrategySpec:
    """Returns the parsed `NAME[:key=value,…]`. Values that are JSON (numbers, true, false, null) are read as JSON.

    A value in square brackets may hold commas: `par:fine=[fine:damping=0.5,nearest=3],k=7`. The brackets are not part
    of the value, and a text in brackets is read as if it had none. Raises `InvalidStrategy` if an option is not of the
    form key=value, and for a bracket without its other half.
    """
    if len(text) > MAX_SPEC_LENGTH:
        raise InvalidStrategy(
            f"{text[:40]!r}…: a strategy with its options has at most {MAX_SPEC_LENGTH:,} characters, not {len(text):,}"
        )
    if not is_valid_text(text):
        raise InvalidStrategy(f"{text!r} {NO_CHARACTER}")
    name, _, rest = _strip_brackets(text.strip()).partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in split_outside_brackets(rest, ","))):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise InvalidStrategy(
                f"{text!r}: options are written key=value, separated by commas; {part!r} is not. A value that holds "
                "commas stands in brackets, as in par:fine=[fine:damping=0.5,nearest=3]"
            )
        options[key.strip()] = _read(value.strip())
    if "[" in name or "]" in name:
        raise InvalidStrategy(f"{text!r}: a bracket in it has no other half")
    return StrategySpec(name=name.strip(), options=options)


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Returns the parts between the separators that stand in no square brackets.

    Raises `InvalidStrategy` for a bracket without its other half.
    """
    parts, depth, begin = list[str](), 0, 0
    for place, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
        if character == separator and not depth:
            parts.append(text[begin:place])
            begin = place + 1
    if depth:
        raise InvalidStrategy(f"{text!r}: a bracket in it has no other half")
    return [*parts, text[begin:]]


def _describe_nested(options: Mapping[str, Any], unknown: str) -> str:
    """Returns how to write options if the `unknown` option is of a strategy that an earlier option names; else ''."""
    names = list(options)
    for place in range(names.index(unknown) - 1, -1, -1) if unknown in names else ():
        value = options[names[place]]
        if isinstance(value, str) and ":" in value:
            inner = ",".join([value, *(f"{name}={_show(options[name])}" for name in names[place + 1 :])])
            return f"options of a strategy inside an option stand in brackets: {names[place]}=[{inner}]"
    return ""


def _show(value: object) -> str:
    if isinstance(value, str):
        return f"[{value}]" if "," in value else value
    return json.dumps(value)


def _read(value: str) -> object:
    try:
        return json.loads(value)
    except RecursionError as error:
        raise InvalidStrategy(f"{value[:40]}…: its brackets go too deep") from error
    except ValueError:
        return _strip_brackets(value)


def _strip_brackets(text: str) -> str:
    """Returns the text without the brackets around all of it, if there are any."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    depth = 0
    for character in text[:-1]:
        depth += (character == "[") - (character == "]")
        if not depth:
            return text
    return text[1:-1].strip()


def list_names(package: str) -> list[str]:
    """Returns the names of a package's strategies, sorted; modules that begin with '_' are not strategies."""
    return list(_find_names(package))


@cache  # each search asks for them
def _find_names(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")))


def load_module(package: str, name: str, kind: str) -> ModuleType:
    """Returns the module of a strategy; raises `InvalidStrategy`, with `kind` ("searcher", …) in its message."""
    known = list_names(package)
    if name not in known:
        raise InvalidStrategy(f"there is no {kind} {name!r}; there are: {', '.join(known)}")
    return importlib.import_module(f"{package}.{name}")


def parse_config(package: str, spec: StrategySpec, kind: str) -> StrategyConfig:
    """Returns the strategy's `Config` with the given options; raises `InvalidStrategy`, naming each option that is
    wrong.
    """
    config_type: type[StrategyConfig] = load_module(package, spec.name, kind).Config
    if place := find_half(spec.options):
        raise InvalidStrategy(f"{kind} {spec.name!r}: its option `{place}` {NO_CHARACTER}")
    try:
        return config_type.model_validate(dict(spec.options))
    except ValidationError as error:
        known = ", ".join(config_type.model_fields) or "none"
        details = describe_faults(error, field="option")
        remedy = _find_remedy(spec, error)
        raise InvalidStrategy(f"{kind} {spec.name!r}: {details} (its options: {known}){remedy}") from error


def _find_remedy(spec: StrategySpec, error: ValidationError) -> str:
    """Returns how options of a nested strategy are written, if the first unknown option may belong to it; else ''."""
    unknown = next((str(one["loc"][0]) for one in error.errors() if one["type"] == "extra_forbidden"), "")
    nested = _describe_nested(spec.options, unknown)
    return f"; {nested}" if nested else ""


def build(package: str, spec: StrategySpec, kind: str, backends: object) -> Any:
    """Returns the strategy that `spec` names, built over `backends`."""
    config = parse_config(package, spec, kind)
    return load_module(package, spec.name, kind).build(config, backends)


def describe(package: str, kind: str) -> list[dict[str, Any]]:
    """Returns what each strategy of a package is, its options as JSON schema, and the suffixes that a loader reads."""
    described = []
    for name in list_names(package):
        module = load_module(package, name, kind)
        described.append(
            {
                "name": name,
                "kind": kind,
                "description": (module.__doc__ or "").strip().splitlines()[0],
                "options": module.Config.model_json_schema(),
                "needs_model": getattr(module, "NEEDS_MODEL", False),
                "source": getattr(module, "SOURCE", ""),
                "suffixes": list(getattr(module, "SUFFIXES", ())),
            }
        )
    return described

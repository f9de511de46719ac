"""Strategies by name: finding their modules, parsing their options, and building them.

A strategy is a module of a package such as `retrieval.searchers`; its file name is its name in settings, on the command
line and in the API. It contains a frozen pydantic `Config` (extra fields forbidden) and `build(config, backends)`; the
first line of its docstring says what it does. `NEEDS_MODEL = True` marks one that is useless without a language model,
and `SOURCE` names the paper that it follows. `backends` are the ports that its package offers, made by the container.
"""

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import InvalidStrategy
from core.text.characters import NO_CHARACTER, find_half, is_valid_text

__all__ = [
    "StrategyConfig",
    "StrategySpec",
    "build",
    "describe",
    "list_names",
    "load_module",
    "parse_config",
    "parse_spec",
]


class StrategyConfig(BaseModel):
    """The base of each strategy's `Config`: frozen, and an unknown option is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy's name with its options, such as `vanilla:searcher=sparse,k=7`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return self.name + ":" + ",".join(f"{key}={_show(value)}" for key, value in self.options.items())


def _show(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def parse_spec(text: str) -> StrategySpec:
    """Returns the parsed `NAME[:key=value,…]`. Values that are JSON (numbers, true, false, null) are read as JSON.

    Raises `InvalidStrategy` if an option is not of the form key=value.
    """
    if not is_valid_text(text):
        raise InvalidStrategy(f"{text!r} {NO_CHARACTER}")
    name, _, rest = text.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in rest.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise InvalidStrategy(f"{text!r}: options are written key=value, separated by commas; {part!r} is not")
        options[key.strip()] = _read(value.strip())
    return StrategySpec(name=name.strip(), options=options)


def _read(value: str) -> object:
    try:
        return json.loads(value)
    except ValueError:
        return value


def list_names(package: str) -> list[str]:
    """Returns the names of a package's strategies, sorted; modules that begin with '_' are not strategies."""
    path = importlib.import_module(package).__path__
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))


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
        details = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidStrategy(f"{kind} {spec.name!r}: {details} (its options: {known})") from error


def build(package: str, spec: StrategySpec, kind: str, backends: object) -> Any:
    """Returns the strategy that `spec` names, built over `backends`."""
    config = parse_config(package, spec, kind)
    return load_module(package, spec.name, kind).build(config, backends)


def describe(package: str, kind: str) -> list[dict[str, Any]]:
    """Returns name, description and options (JSON schema) of each strategy of a package."""
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
            }
        )
    return described

"""Strategies by file name: a module that is there can be named in settings, on the command line and in the API.

A strategy module holds a frozen pydantic `Config` (extra fields forbidden) and `build(config, backends)`; its
docstring's first line says what it does. Where it has no use without a language model it says `NEEDS_MODEL = True`, and
`SOURCE` names the paper that it follows. Backends are the ports that its package offers, made by the container.
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
from core.text.characters import NO_CHARACTER, half_in, is_whole

__all__ = ["StrategyConfig", "StrategySpec", "build", "config_of", "describe", "module_of", "names", "parse_spec"]


class StrategyConfig(BaseModel):
    """The base of every strategy's Config: frozen, and a wrong option is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """A strategy's name with the options it was given: `vanilla:searcher=sparse,k=7`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return self.name + ":" + ",".join(f"{key}={_show(value)}" for key, value in self.options.items())


def _show(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def parse_spec(text: str) -> StrategySpec:
    """Read `NAME[:key=value,…]`; values that are JSON (numbers, true, false, null) are read as JSON."""
    if not is_whole(text):
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


def names(package: str) -> list[str]:
    """The strategies of a package, by file name; modules that begin with '_' are parts, not strategies."""
    path = importlib.import_module(package).__path__
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))


def module_of(package: str, name: str, kind: str) -> ModuleType:
    """The module of a strategy; `kind` ("searcher", …) is for the message of `InvalidStrategy`."""
    known = names(package)
    if name not in known:
        raise InvalidStrategy(f"there is no {kind} {name!r}; there are: {', '.join(known)}")
    return importlib.import_module(f"{package}.{name}")


def config_of(package: str, spec: StrategySpec, kind: str) -> StrategyConfig:
    """The strategy's Config with the given options; raises `InvalidStrategy` naming each option that is wrong."""
    config_type: type[StrategyConfig] = module_of(package, spec.name, kind).Config
    if place := half_in(spec.options):
        raise InvalidStrategy(f"{kind} {spec.name!r}: its option `{place}` {NO_CHARACTER}")
    try:
        return config_type.model_validate(dict(spec.options))
    except ValidationError as error:
        known = ", ".join(config_type.model_fields) or "none"
        details = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidStrategy(f"{kind} {spec.name!r}: {details} (its options: {known})") from error


def build(package: str, spec: StrategySpec, kind: str, backends: object) -> Any:
    """Make the strategy that `spec` names, over `backends`."""
    config = config_of(package, spec, kind)
    return module_of(package, spec.name, kind).build(config, backends)


def describe(package: str, kind: str) -> list[dict[str, Any]]:
    """Name, description and options (JSON schema) of every strategy of a package."""
    described = []
    for name in names(package):
        module = module_of(package, name, kind)
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

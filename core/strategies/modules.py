"""The modules of strategies: finding them by name, reading their options, building and describing them.

A strategy is a module of a package such as `retrieval.searchers`; its file name is its name in settings, on the command
line and in the API. It contains a frozen pydantic `Config` (extra fields forbidden) and `build(config, backends)`; the
first line of its docstring says what it does. `NEEDS_MODEL = True` marks a strategy that is useless without a language
model, and `SOURCE` names the paper that it follows. `TAKES_PARTS = True` marks a searcher that answers queries of
several corpora itself. `backends` are the ports that its package offers, made by the container.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from core.errors import InvalidStrategy
from core.faults import describe_faults
from core.strategies.config import StrategyConfig
from core.strategies.specs import StrategySpec, describe_nested
from core.text.characters import NO_CHARACTER, find_half

__all__ = ["build", "describe", "list_names", "load_module", "parse_config"]


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
    nested = describe_nested(spec.options, unknown)
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

"""Strategies as requests name them, kept away from the files of this machine."""

from collections.abc import Iterator, Mapping
from typing import Any

import retrieval
from core.errors import InvalidStrategy
from core.strategies import StrategyConfig, StrategySpec, list_names, load_module, parse_spec
from reasoning import REASONERS

__all__ = ["named"]

_PACKAGES = {"searcher": retrieval.SEARCHERS, "reasoner": REASONERS}


def named(text: str | None, options: Mapping[str, Any], kind: str) -> StrategySpec | None:
    """The strategy that was named, its options in either place; raises `InvalidStrategy` for options without a name,
    and for a file as an option, here or in a strategy that an option names: who asks over HTTP must not learn which
    files this machine has.
    """
    if text is None:
        if options:
            raise InvalidStrategy(f"options were given for a {kind} that is not named; name the {kind}")
        return None
    spec = parse_spec(text)
    spec = StrategySpec(name=spec.name, options={**spec.options, **options})
    _refuse_files(spec, kind)
    return spec


def _refuse_files(spec: StrategySpec, kind: str) -> None:
    config: type[StrategyConfig] = load_module(_PACKAGES[kind], spec.name, kind).Config
    for option, value in spec.options.items():
        shipped = _shipped(config, option)
        if shipped is None:
            for inner_kind, inner in _inner(value):
                _refuse_files(inner, inner_kind)
        elif value not in shipped:
            raise InvalidStrategy(
                f"over HTTP a {option} is one of {', '.join(shipped)}; a file is named by the settings of the server "
                f"(HOPWEAVE_{kind.upper()}={spec.name}:{option}=FILE) or on the command line"
            )


def _shipped(config: type[StrategyConfig], option: str) -> list[str] | None:
    """What a file-valued option may be without naming a file; None: the option is none of these.

    A Config marks such a field with `json_schema_extra={"file": True, "shipped": [names]}`.
    """
    field = config.model_fields.get(option)
    extra = field.json_schema_extra if field is not None else None
    if not isinstance(extra, dict) or not extra.get("file"):
        return None
    shipped = extra.get("shipped", [])
    return [str(name) for name in shipped] if isinstance(shipped, list) else []


def _inner(value: object) -> Iterator[tuple[str, StrategySpec]]:
    """Every strategy that an option's value may be read as, alone or joined with others by `+`."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _inner(one)
    if not isinstance(value, str):
        return
    for part in value.split("+"):
        name, _, options = part.partition(":")
        for kind, package in _PACKAGES.items():
            if options and name.strip() in list_names(package):
                yield kind, parse_spec(part)

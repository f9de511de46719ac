"""The strategies that a request names, checked against what HTTP clients may choose.

Open this module to change how `searcher`, `reasoner` and their options are read from a body, or which options are
refused there.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

import retrieval
from core.errors import InvalidStrategy
from core.strategies import StrategyConfig, StrategySpec, list_names, load_module, parse_spec, split_outside_brackets
from core.strategies.specs import MAX_SPEC_LENGTH
from reasoning import REASONERS

__all__ = ["Reasoner", "Searcher", "parse_strategy"]

_PACKAGES = {"searcher": retrieval.SEARCHERS, "reasoner": REASONERS}


def _begin_with_name(kind: str) -> Any:
    """Returns what a schema says of a strategy: its name. `/v1/strategies` describes its options."""
    return Field(json_schema_extra={"pattern": f"^(?:{'|'.join(list_names(_PACKAGES[kind]))})(?::.*)?$"})


Searcher = Annotated[str, _begin_with_name("searcher")]
Reasoner = Annotated[str, _begin_with_name("reasoner")]
"""`NAME[:key=value,…]`, which `parse_strategy` reads."""


def parse_strategy(text: str | None, options: Mapping[str, Any], kind: str) -> StrategySpec | None:
    """Returns the strategy that `text` names, with the options of the text and of `options`; None if none is named.

    Raises `InvalidStrategy` for options without a name, and for an option that names a file, here or in a strategy
    that an option names: an HTTP client must not learn which files this machine has.
    """
    if text is None:
        if options:
            raise InvalidStrategy(f"options were given for a {kind} that is not named; name the {kind}")
        return None
    spec = parse_spec(text)
    spec = StrategySpec(name=spec.name, options={**spec.options, **options})
    try:
        _refuse_files(spec, kind)
    except RecursionError as error:
        raise InvalidStrategy(f"the options of the {kind} {spec.name!r} go too deep") from error
    return spec


def _refuse_files(spec: StrategySpec, kind: str) -> None:
    config: type[StrategyConfig] = load_module(_PACKAGES[kind], spec.name, kind).Config
    for option, value in spec.options.items():
        shipped = _shipped_names(config, option)
        if shipped is None:
            for inner_kind, inner in _inner_strategies(value):
                _refuse_files(inner, inner_kind)
        elif value not in shipped:
            raise InvalidStrategy(
                f"over HTTP a {option} is one of {', '.join(shipped)}; a file is named by the settings of the server "
                f"(HOPWEAVE_{kind.upper()}={spec.name}:{option}=FILE) or on the command line"
            )


def _shipped_names(config: type[StrategyConfig], option: str) -> list[str] | None:
    """Returns the values of an option that takes a file which name no file; None if the option takes no file.

    A Config marks an option that takes a file with `json_schema_extra={"file": True, "shipped": [names]}`.
    """
    field = config.model_fields.get(option)
    extra = field.json_schema_extra if field is not None else None
    if not isinstance(extra, dict) or not extra.get("file"):
        return None
    shipped = extra.get("shipped", [])
    return [str(name) for name in shipped] if isinstance(shipped, list) else []


def _inner_strategies(value: object) -> Iterator[tuple[str, StrategySpec]]:
    """Yields each strategy with options that an option's value may name, alone or joined with others by `+`."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _inner_strategies(item)
    if not isinstance(value, str):
        return
    if len(value) > MAX_SPEC_LENGTH:
        raise InvalidStrategy(
            f"{value[:40]!r}…: an option has at most {MAX_SPEC_LENGTH:,} characters, not {len(value):,}"
        )
    for part in dict.fromkeys([*split_outside_brackets(value, "+"), *value.split("+")]):
        name, _, options = part.strip().lstrip("[").partition(":")
        whole = part.count("[") == part.count("]")  # half of a name in brackets can be built by nobody
        for kind, package in _PACKAGES.items():
            if options and whole and name.strip() in list_names(package):
                yield kind, parse_spec(part)

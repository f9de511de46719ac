"""`StrategySpec`: a strategy as users write it, `NAME[:key=value,…]`, and its parsing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidStrategy
from core.text.characters import NO_CHARACTER, is_valid_text

__all__ = ["MAX_SPEC_LENGTH", "StrategySpec", "describe_nested", "parse_spec", "split_outside_brackets"]

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


def describe_nested(options: Mapping[str, Any], unknown: str) -> str:
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

"""What is wrong with a setting, in one plain line: where it is set, its name, and what it takes. Never its value."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.faults import describe_fault
from core.settings.environment import ANY, PREFIX, describe_name, list_names, suggest_name
from core.settings.settings import TOML_FILE

__all__ = ["describe_faults"]

_UNKNOWN = "extra_forbidden"
_TABLES = frozenset({"model_type", "model_attributes_type", "dict_type", "mapping_type"})
_TAKES = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "a text",
    "path": "a text",
    "list": "a list",
}
"""What a setting takes, by the first word of pydantic's type of the fault."""
_LIMITS = {"greater_than": "more than", "greater_than_equal": "at least", "less_than": "less than"}
_LIMITS["less_than_equal"] = "at most"


def describe_faults(faults: list[Mapping[str, Any]]) -> str:
    """Returns all faults that pydantic found in settings."""
    file = _read_file()
    return "; ".join(_describe(fault, file) for fault in faults)


def _describe(fault: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    place = fault["loc"]
    if not place:
        return describe_fault(fault)
    if _is_in_environment(place) or not _holds(file, place):
        name = describe_name(place)
        advice = suggest_name(name) if fault["type"] == _UNKNOWN else ""
        return f"{name}: {_describe_value(fault)}{advice}"
    name = _dotted(place)
    if fault["type"] == _UNKNOWN:
        return f"{TOML_FILE}: there is no setting `{name}`{_suggest(name)}"
    if fault["type"] in _TABLES:
        return f"{TOML_FILE}: `{name}` is a group of settings: write them below `[{name}]`"
    return f"{TOML_FILE}: `{name}`: {_describe_value(fault)}"


def _describe_value(fault: Mapping[str, Any]) -> str:
    kind, context = str(fault["type"]), fault.get("ctx", {})
    if kind in {"literal_error", "enum"}:
        return f"it takes {context['expected']}"
    if kind in _LIMITS:
        [limit] = (value for name, value in context.items() if name in {"gt", "ge", "lt", "le"})
        return f"it takes {_LIMITS[kind]} {limit:g}"
    if kind in _TABLES:
        return "it is a group of settings"
    first = kind.partition("_")[0]
    return f"it takes {_TAKES[first]}" if first in _TAKES else describe_fault(fault, field="setting")


def _suggest(name: str) -> str:
    """Returns advice that names the key of the file which is most like a name."""
    given = name.split(".")
    known = set[str]()
    for one in list_names():
        parts = [given[i] if part == ANY and i < len(given) else part.lower() for i, part in enumerate(one)]
        known |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    [*nearest] = difflib.get_close_matches(name.lower(), sorted(known), n=1, cutoff=0.6)
    return f"; did you mean `{nearest[0]}`?" if nearest else "; docs/settings.md lists those that there are"


def _read_file() -> Mapping[str, Any]:
    try:
        with Path(TOML_FILE).open("rb") as file:
            return tomllib.load(file)
    except OSError:  # there is none
        return {}


def _is_in_environment(place: tuple[str | int, ...]) -> bool:
    """Whether a variable sets this place, or a group that holds it. It wins over the file."""
    names = {name.upper() for name in os.environ if name.upper().startswith(PREFIX)}
    return any(describe_name(place[: end + 1]) in names for end in range(len(place)))


def _holds(file: Any, place: tuple[str | int, ...]) -> bool:
    for part in place:
        if isinstance(file, Mapping) and part in file:
            file = file[str(part)]
        elif isinstance(file, list) and isinstance(part, int) and part < len(file):
            file = file[part]
        else:
            return False
    return True


def _dotted(place: tuple[str | int, ...]) -> str:
    """Returns `api.keys[0]` for ("api", "keys", 0)."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")

"""Checks the names and the form of environment variables, before pydantic reads them: pydantic ignores names that it
does not know, and fails on text that is not JSON without naming the variable.
"""

import difflib
import json
import types
from collections.abc import Iterator, Mapping
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from core.settings.settings import PREFIX, Settings

__all__ = ["ANY", "PREFIX", "describe_name", "find_faults", "list_names", "suggest_name", "takes_list"]

_OTHERS = frozenset({"HOPWEAVE_API_KEY"})
"""Variables of Hopweave that are no settings: the key that `hopweave ingest --server` sends."""
_TESTS = "HOPWEAVE_TEST_"
_SEPARATOR = "__"
ANY = "<NAME>"
"""The part of a name that users choose, such as a role."""
_OPTIONS = {
    "API__PORT": "--port",
    "API__HOST": "--host",
    "API__WORKERS": "--workers",
    "PORT": "--port",
    "HOST": "--host",
}
"""What users look for among the settings, and is an option of `hopweave serve`."""
_LIST = 'it takes a JSON list, such as \'["one", "two"]\''
_OBJECT = "it takes a JSON object"


def find_faults(environment: Mapping[str, str]) -> list[str]:
    """Returns what is wrong with the variables that begin with the prefix, each with its name and the remedy."""
    faults = []
    for name, value in sorted(environment.items()):
        upper = name.upper()
        if upper.startswith(PREFIX) and upper not in _OTHERS and not upper.startswith(_TESTS):
            fault = _find_fault(upper, value)
            if fault is not None:
                faults.append(f"{upper}: {fault}")
    return faults


def suggest_name(name: str) -> str:
    """Returns advice that names the setting which is most like a name."""
    name = name.removeprefix(PREFIX)
    if name in _OPTIONS:
        return f"; it is an option: hopweave serve {_OPTIONS[name]}"
    parts = name.split(_SEPARATOR)
    known = [
        _SEPARATOR.join(parts[i] if part == ANY and i < len(parts) else part for i, part in enumerate(one))
        for one in _leaves(Settings)
    ]
    [*nearest] = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {PREFIX}{nearest[0]}?" if nearest else "; docs/settings.md lists those that there are"


def takes_list(name: str) -> bool:
    """Whether the setting of a variable is a list."""
    annotation: Any = Settings
    for part in name.upper().removeprefix(PREFIX).lower().split(_SEPARATOR):
        annotation = _descend(annotation, part)
    return get_origin(annotation) is list


def list_names() -> list[list[str]]:
    """Returns the parts of the names of all settings."""
    return list(_leaves(Settings))


def describe_name(place: tuple[str | int, ...]) -> str:
    """Returns the name of the variable of a field, such as `HOPWEAVE_API__KEYS` for ("api", "keys", 0)."""
    return PREFIX + _SEPARATOR.join(str(part).upper() for part in place if not isinstance(part, int))


def _find_fault(name: str, value: str) -> str | None:
    annotation: Any = Settings
    for part in name.removeprefix(PREFIX).lower().split(_SEPARATOR):
        annotation = _descend(annotation, part)
        if annotation is None:
            return f"there is no such setting{suggest_name(name)}"
    if _is_section(annotation):
        first = next(iter(annotation.model_fields)).upper()
        return _check_json(value, dict, f"it is a group of settings; set {name}{_SEPARATOR}{first} and so on")
    kind = get_origin(annotation)
    if kind is list:
        return _check_json(value, list, _LIST)
    return _check_json(value, dict, _OBJECT) if kind is dict else None


def _descend(annotation: Any, part: str) -> Any:
    """Returns the type of a field of a section, or None if it has no such field."""
    if _is_section(annotation):
        field = annotation.model_fields.get(part)
        return None if field is None else _plain(field.annotation)
    if get_origin(annotation) is dict and part:
        return get_args(annotation)[1]
    return None


def _plain(annotation: Any) -> Any:
    """Returns the type without None."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(one for one in get_args(annotation) if one is not type(None))
    return annotation


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _check_json(value: str, kind: type, message: str) -> str | None:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return message
    return None if isinstance(found, kind) else message


def _leaves(annotation: Any) -> Iterator[list[str]]:
    if _is_section(annotation):
        for name, field in annotation.model_fields.items():
            for rest in _leaves(_plain(field.annotation)):
                yield [name.upper(), *rest]
    elif get_origin(annotation) is dict:
        for rest in _leaves(get_args(annotation)[1]):
            yield [ANY, *rest]
    else:
        yield []

"""Reading of settings from the environment, `hopweave.toml` and secret files.

- The names and the form of environment variables are checked before pydantic reads them: pydantic ignores names that it
  does not know.
- What is wrong with a setting is told in one plain line: where it is set, its name, and what it takes. Never its value.
"""

import difflib
import json
import os
import tomllib
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from core.errors import InvalidSettings
from core.faults import describe_fault
from core.settings.section import expand_home
from core.settings.settings import PREFIX, TOML_FILE, Settings

_OTHERS = frozenset({"HOPWEAVE_API_KEY"})
"""Variables of Hopweave that are no settings: the key that `hopweave ingest --server` sends."""
_TESTS = "HOPWEAVE_TEST_"
_SEPARATOR = "__"
_ANY = "<NAME>"
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


def _suggest_name(name: str) -> str:
    """Returns advice that names the setting which is most like a name."""
    name = name.removeprefix(PREFIX)
    if name in _OPTIONS:
        return f"; it is an option: hopweave serve {_OPTIONS[name]}"
    parts = name.split(_SEPARATOR)
    known = [
        _SEPARATOR.join(parts[i] if part == _ANY and i < len(parts) else part for i, part in enumerate(one))
        for one in _leaves(Settings)
    ]
    [*nearest] = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {PREFIX}{nearest[0]}?" if nearest else "; docs/settings.md lists those that there are"


def _takes_list(name: str) -> bool:
    """Whether the setting of a variable is a list."""
    annotation: Any = Settings
    for part in name.upper().removeprefix(PREFIX).lower().split(_SEPARATOR):
        annotation = _descend(annotation, part)
    return get_origin(annotation) is list


def _list_names() -> list[list[str]]:
    """Returns the parts of the names of all settings."""
    return list(_leaves(Settings))


def _describe_name(place: tuple[str | int, ...]) -> str:
    """Returns the name of the variable of a field, such as `HOPWEAVE_API__KEYS` for ("api", "keys", 0)."""
    return PREFIX + _SEPARATOR.join(str(part).upper() for part in place if not isinstance(part, int))


def _find_fault(name: str, value: str) -> str | None:
    annotation: Any = Settings
    for part in name.removeprefix(PREFIX).lower().split(_SEPARATOR):
        annotation = _descend(annotation, part)
        if annotation is None:
            return f"there is no such setting{_suggest_name(name)}"
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
            yield [_ANY, *rest]
    else:
        yield []


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
        name = _describe_name(place)
        advice = _suggest_name(name) if fault["type"] == _UNKNOWN else ""
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
    for one in _list_names():
        parts = [given[i] if part == _ANY and i < len(given) else part.lower() for i, part in enumerate(one)]
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
    return any(_describe_name(place[: end + 1]) in names for end in range(len(place)))


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


def read_settings(**overrides: Any) -> Settings:
    """Returns the settings of the environment and `hopweave.toml`; `overrides` stand above both.

    Raises `InvalidSettings`, naming the setting, never its value.
    """
    _load_secret_files()
    if faults := find_faults(os.environ):
        raise InvalidSettings(f"settings are wrong: {'; '.join(faults)}")
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise InvalidSettings(f"settings are wrong: {describe_faults(list(error.errors()))}") from error
    except SettingsError as error:
        raise InvalidSettings(f"settings are wrong: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{TOML_FILE} is not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InvalidSettings(f"{TOML_FILE} is not UTF-8: byte {error.start} cannot be read") from error
    except OSError as error:
        raise InvalidSettings(f"{TOML_FILE} cannot be read: {error.strerror}") from error


def _load_secret_files() -> None:
    """Sets the variable of each `HOPWEAVE_…_FILE` to the file's content, for this process and its children.

    A variable that is set already wins. pydantic-settings reads a folder of secrets only, not a file named by a
    variable.
    """
    for name, path in list(os.environ.items()):
        if not (name.startswith(PREFIX) and name.endswith("_FILE")):
            continue
        try:
            text = expand_home(Path(path)).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidSettings(f"{name} names a file that cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidSettings(f"{name} names a file that is not UTF-8 text") from error
        except ValueError as error:
            raise InvalidSettings(f"{name} names no file: {error}") from error
        if "\0" in text:
            raise InvalidSettings(f"{name} names a file that is no text: it has a NUL character")
        of = name.removesuffix("_FILE")
        os.environ.setdefault(of, _read_list(text) if _takes_list(of) else text.strip())
        del os.environ[name]


def _read_list(text: str) -> str:
    """Returns the JSON list of a file that has one, or one value a line. Lines that begin with `#` are comments."""
    if text.lstrip().startswith("["):
        return text.strip()
    lines = (line.strip() for line in text.splitlines())
    return json.dumps([line for line in lines if line and not line.startswith("#")])

"""Reading of settings from the environment, `hopweave.toml` and secret files."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from core.errors import InvalidSettings
from core.faults import describe_fault
from core.settings.environment import describe_name, find_faults, suggest_name
from core.settings.paths import expand_home
from core.settings.settings import PREFIX, TOML_FILE, Settings

__all__ = ["read_settings"]

_UNKNOWN = "extra_forbidden"


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
        problems = "; ".join(_describe(fault) for fault in error.errors())
        raise InvalidSettings(f"settings are wrong: {problems}") from error
    except SettingsError as error:
        raise InvalidSettings(f"settings are wrong: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{TOML_FILE} is not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InvalidSettings(f"{TOML_FILE} is not UTF-8: byte {error.start} cannot be read") from error
    except OSError as error:
        raise InvalidSettings(f"{TOML_FILE} cannot be read: {error.strerror}") from error


def _describe(fault: Mapping[str, Any]) -> str:
    if not fault["loc"]:
        return describe_fault(fault)
    name = describe_name(fault["loc"])
    advice = suggest_name(name) if fault["type"] == _UNKNOWN else ""
    return f"{name}: {describe_fault(fault, field='setting')}{advice}"


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
        os.environ.setdefault(name.removesuffix("_FILE"), text.strip())
        del os.environ[name]

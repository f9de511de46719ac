"""Reading of settings from the environment, `hopweave.toml` and secret files."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from core.errors import InvalidSettings
from core.settings.environment import find_faults, takes_list
from core.settings.faults import describe_faults
from core.settings.paths import expand_home
from core.settings.settings import PREFIX, TOML_FILE, Settings

__all__ = ["read_settings"]


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
        os.environ.setdefault(of, _read_list(text) if takes_list(of) else text.strip())
        del os.environ[name]


def _read_list(text: str) -> str:
    """Returns the JSON list of a file that has one, or one value a line. Lines that begin with `#` are comments."""
    if text.lstrip().startswith("["):
        return text.strip()
    lines = (line.strip() for line in text.splitlines())
    return json.dumps([line for line in lines if line and not line.startswith("#")])

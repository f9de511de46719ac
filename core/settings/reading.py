"""Reading of settings from the environment, `hopweave.toml` and secret files."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.errors import InvalidSettings
from core.faults import describe_fault
from core.settings.settings import PREFIX, TOML_FILE, Settings

__all__ = ["read_settings"]


def read_settings(**overrides: Any) -> Settings:
    """Returns the settings of the environment and `hopweave.toml`; `overrides` stand above both.

    Raises `InvalidSettings`, naming the setting, never its value.
    """
    _load_secret_files()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            f"{PREFIX}{'__'.join(str(part).upper() for part in e['loc'])}: {describe_fault(e, field='setting')}"
            if e["loc"]
            else describe_fault(e)
            for e in error.errors()
        )
        raise InvalidSettings(f"settings are wrong: {problems}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{TOML_FILE} is not valid TOML: {error}") from error


def _load_secret_files() -> None:
    """Sets the variable of each `HOPWEAVE_…_FILE` to the file's content, for this process and its children.

    A variable that is set already wins. pydantic-settings reads a folder of secrets only, not a file named by a
    variable.
    """
    for name, path in list(os.environ.items()):
        if not (name.startswith(PREFIX) and name.endswith("_FILE")):
            continue
        try:
            os.environ.setdefault(name.removesuffix("_FILE"), Path(path).read_text(encoding="utf-8").strip())
        except OSError as error:
            raise InvalidSettings(f"{name} names a file that cannot be read: {error.strerror}") from error
        del os.environ[name]

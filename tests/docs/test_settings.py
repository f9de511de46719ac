"""`docs/settings.md` against `core.settings`: every setting is there with its default, and every name exists."""

import json
import re
import tomllib
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from app.container.prompts import list_roles
from core.settings import RoleSettings, Settings
from tests.docs.pages import DOCS, ROOT, pages, table_rows

_PREFIX = "HOPWEAVE_"
_ROLE = "LLM__ROLES__<ROLE>"
_NAME = re.compile(r"HOPWEAVE_[A-Z0-9_]*(?:<ROLE>[A-Z0-9_]*)?")
_DESCRIBED = {"FILES__URL": "`files` in the data folder", "DATA_DIR": "[the user's](#the-data-folder)"}
"""Defaults that are computed are described in words."""
_OF_TESTS = "HOPWEAVE_TEST_"


def defaults(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting's name without the common prefix, with its default."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{name.upper()}"
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from defaults(type(default), f"{path}__")
        elif path == "LLM__ROLES":
            yield from defaults(RoleSettings, f"{_ROLE}__")
        else:
            yield path, default


def shown(value: object) -> str:
    """A default as the page has it; empty where nothing is set."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == "":
        return ""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, float):
        value = f"{value:g}"
    if isinstance(value, list):
        value = json.dumps(value)
    return f"`{value}`"


def documented() -> Iterator[tuple[str, str]]:
    """Each setting of the page with its default. `…__X` stands for the name before it with another last part."""
    for names, default, *_ in table_rows((DOCS / "settings.md").read_text("utf-8"), "setting"):
        full: list[str] = []
        for name in re.findall(r"`([^`]+)`", names):
            full.append(full[-1].rpartition("__")[0] + name.removeprefix("…") if name.startswith("…") else name)
        given = [part.strip() for part in default.split(",")]
        given = given if len(given) == len(full) else [default] * len(full)
        yield from zip([name.removeprefix(_PREFIX) for name in full], given, strict=True)


def test_every_setting_is_documented_once() -> None:
    names = [name for name, _ in documented()]
    assert sorted(names) == sorted(name for name, _ in defaults(Settings))


def test_the_defaults_are_those_of_the_code() -> None:
    expected = {name: _DESCRIBED.get(name, shown(value)) for name, value in defaults(Settings)}
    found = {name: default for name, default in documented() if not name.startswith(_ROLE)}
    assert found == {name: default for name, default in expected.items() if not name.startswith(_ROLE)}


_OF_COMMANDS = frozenset({"HOPWEAVE_API_KEY"})
"""Variables that stand for an option of a command, and are no settings."""


@cache
def exists(name: str) -> bool:
    if name in _OF_COMMANDS:
        return True
    known = {path for path, _ in defaults(Settings)}
    path = name.removeprefix(_PREFIX)
    path = re.sub(r"^LLM__ROLES__[A-Z_]+?__(?=[A-Z])", f"{_ROLE}__", path)
    if not path or path.endswith("_"):  # `HOPWEAVE_…` and `HOPWEAVE_STORE__…` stand for several
        return any(one.startswith(path) for one in known)
    return path in known or path.removesuffix("_FILE") in known


def mentions(text: str) -> set[str]:
    return {name for name in _NAME.findall(text) if not name.startswith(_OF_TESTS)}


def test_pages_name_settings_that_exist() -> None:
    wrong = {f"{page}: {name}" for page, text in pages().items() for name in mentions(text) if not exists(name)}
    assert wrong == set()


@pytest.mark.parametrize("file", [".env.example", "docker/compose.yaml", "docker/Dockerfile"])
def test_deployment_files_name_settings_that_exist(file: str) -> None:
    assert {name for name in mentions((ROOT / file).read_text("utf-8")) if not exists(name)} == set()


def test_messages_name_settings_that_exist() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["packages"]
    sources = {str(file): file.read_text("utf-8") for name in packages for file in (ROOT / name).rglob("*.py")}
    assert sources
    wrong = {f"{file}: {name}" for file, text in sources.items() for name in mentions(text) if not exists(name)}
    assert wrong == set()


def test_every_role_is_told() -> None:
    table = (DOCS / "models.md").read_text("utf-8").partition("| used by | roles |")[2].partition("\n\n")[0]
    told = {role for line in table.splitlines()[2:] for role in re.findall(r"`([a-z_]+)`", line.split("|")[2])}
    assert told == list_roles()

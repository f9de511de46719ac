"""Cypher, in files of its own: `cypher/FILE.cypher` holds statements under lines `// [name]`, ended by semicolons."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

__all__ = ["script", "statements"]

_HEAD = re.compile(r"^// \[(\w+)\].*$", re.MULTILINE)


@cache
def statements(file: str) -> Mapping[str, str]:
    """The statements of a file by name. Values are always parameters of a statement, never part of its text."""
    found = _HEAD.split(_read(file))
    return {name: text.strip().removesuffix(";") for name, text in zip(found[1::2], found[2::2], strict=True)}


def script(file: str, name: str) -> list[str]:
    """The several statements under one name, for those that the server takes one by one."""
    return [one.strip() for one in statements(file)[name].split(";") if one.strip()]


def _read(file: str) -> str:
    return resources.files("stores.neo4j").joinpath("cypher", f"{file}.cypher").read_text(encoding="utf-8")

"""The Cypher statements of the files `cypher/*.cypher`, by name.

A file holds statements under lines `// [name]`. Each ends with a semicolon.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

__all__ = ["script", "statements"]

_HEAD = re.compile(r"^// \[(\w+)\].*$", re.MULTILINE)


@cache
def statements(file: str) -> Mapping[str, str]:
    """Returns the statements of a file by name. Values are always parameters of a statement, never part of its text."""
    parts = _HEAD.split(_read(file))
    return {name: text.strip().removesuffix(";") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def script(file: str, name: str) -> list[str]:
    """Returns the statements under one name, for those that the server takes one by one."""
    return [one.strip() for one in statements(file)[name].split(";") if one.strip()]


def _read(file: str) -> str:
    return resources.files("stores.neo4j").joinpath("cypher", f"{file}.cypher").read_text(encoding="utf-8")

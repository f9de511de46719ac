"""The descriptions of bodies name the bounds of numbers as JSON schema does; other names would be ignored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.mcp.server import TOOLS, TOOLS_WITH_FILES
from api.mcp.tool import schema_of
from api.schemas.ask import BudgetIn

_OPENAPI = Path(__file__).parents[3] / "docs" / "openapi.json"
_NAMES_OF_PYDANTIC = {"ge", "gt", "le", "lt"}


def _find_keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _find_keywords(one)
    elif isinstance(schema, dict):
        yield from (name for name, value in schema.items() if not isinstance(value, dict))
        for one in schema.values():
            yield from _find_keywords(one)


def test_bounds_of_numbers_that_may_be_null() -> None:
    seconds = BudgetIn.model_json_schema()["properties"]["seconds"]["anyOf"]
    assert {"type": "number", "exclusiveMinimum": 0} in seconds


def test_of_the_openapi() -> None:
    assert not _NAMES_OF_PYDANTIC & set(_find_keywords(json.loads(_OPENAPI.read_text("utf-8"))))


def test_of_the_tools() -> None:
    for tool in (*TOOLS, *TOOLS_WITH_FILES):
        assert not _NAMES_OF_PYDANTIC & set(_find_keywords(schema_of(tool.arguments))), tool.name

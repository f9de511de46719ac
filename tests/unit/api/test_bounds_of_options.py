"""Options of strategies that requests, settings or commands give: no number is without bounds, so no loop is."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.container.catalogue import describe_strategies
from core.errors import InvalidStrategy
from core.strategies import StrategySpec, parse_config

NUMBERS = ("integer", "number")


def numbers(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if schema.get("type") in NUMBERS:
            yield place, schema
        for name, part in schema.items():
            yield from numbers(part, f"{place}.{name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from numbers(part, place)


def bound(schema: dict[str, Any], name: str, exclusive: str) -> float | None:
    found: float | None = schema.get(name, schema.get(exclusive))
    return found


def test_every_number_has_a_least_and_a_greatest_value() -> None:
    every = [
        found for one in describe_strategies() for found in numbers(one["options"], f"{one['kind']} {one['name']}")
    ]
    assert len(every) > 50
    unbounded = [
        place
        for place, schema in every
        if bound(schema, "minimum", "exclusiveMinimum") is None or bound(schema, "maximum", "exclusiveMaximum") is None
    ]
    assert unbounded == []


@pytest.mark.parametrize("searcher", ["fused", "bridged", "graph", "fine", "hippo", "hippo1"])
@pytest.mark.parametrize("damping", [0.9999999999999999, 0.999, float("nan"), float("inf"), -1, 0])
def test_a_walk_that_hardly_ever_ends_is_refused(searcher: str, damping: float) -> None:
    with pytest.raises(InvalidStrategy, match="damping"):
        parse_config("retrieval.searchers", StrategySpec(name=searcher, options={"damping": damping}), "searcher")

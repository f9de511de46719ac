"""Options of strategies that requests, settings or commands give: no number is without bounds, so no loop is."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.container.container import describe_strategies
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
    described = [(one["options"], f"{one['kind']} {one['name']}") for one in describe_strategies()]
    every = [found for options, place in described for found in numbers(options, place)]
    assert len(every) > 50
    for place, schema in every:
        assert bound(schema, "minimum", "exclusiveMinimum") is not None, place
        assert bound(schema, "maximum", "exclusiveMaximum") is not None, place


@pytest.mark.parametrize("searcher", ["fused", "bridged", "graph", "fine", "hippo", "hippo1"])
@pytest.mark.parametrize("damping", [0.9999999999999999, 0.999, float("nan"), float("inf"), -1, 0])
def test_a_walk_that_hardly_ever_ends_is_refused(searcher: str, damping: float) -> None:
    with pytest.raises(InvalidStrategy, match="damping"):
        parse_config("retrieval.searchers", StrategySpec(name=searcher, options={"damping": damping}), "searcher")

"""Bounds of what a language model may answer. A model that was led astray by a document may write without end."""

from collections.abc import Mapping, Sequence

__all__ = ["MAX_DEPTH", "MAX_VALUES", "find_excess"]

MAX_DEPTH = 50
"""Lists and objects within each other, in a structured answer."""

MAX_VALUES = 20_000
"""Values of a structured answer, in all lists and objects together."""


def find_excess(value: object) -> str | None:
    """Returns what a JSON value has too much of, in words for the model; None if it is within the bounds."""
    layer, count = [value], 0
    for depth in range(MAX_DEPTH + 1):
        count += len(layer)
        if count > MAX_VALUES:
            return f"it has more than {MAX_VALUES:,} values"
        if not layer:
            return None
        if depth == MAX_DEPTH:
            break
        layer = [inner for one in layer for inner in _inside(one)]
    return f"its brackets go deeper than {MAX_DEPTH} levels"


def _inside(value: object) -> Sequence[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()

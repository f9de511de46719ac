"""Names with a close spelling, for what a user mistyped."""

from collections.abc import Callable, Iterator, Sequence

__all__ = ["find_close_names"]

_CLOSE = 0.75
"""The least similarity of two names: 1 - edits / the length of the longer one, where swapped letters are one edit."""
_CLOSE_PART = 0.8
_SHORTEST_PART = 5
"""Of a shorter name, too many names have a part that is close."""
_LONGEST = 100
"""Characters of a name. A longer one is not compared, which bounds the time of a comparison."""
_BLOCK = 20_000
"""Names that are compared without letting other threads run, for some milliseconds."""


def find_close_names(name: str, names: Sequence[str]) -> list[tuple[int, float]]:
    """Returns the places of the names that are close to `name`, with their similarities (0 to 1), in the order of
    places.

    If no whole name is close, names with a close part are returned. Both are normalised names. Comparing a million
    names takes about a second.
    """
    from rapidfuzz import fuzz  # with the module below some hundredths of a second, which searches do not need
    from rapidfuzz.distance import OSA

    if not name or len(name) > _LONGEST:
        return []
    found = list(_compare(name, names, OSA.normalized_similarity, _CLOSE))
    if found or len(name) < _SHORTEST_PART:
        return found
    parts = _compare(name, names, fuzz.partial_ratio, 100 * _CLOSE_PART)
    return [(place, score / 100) for place, score in parts if len(names[place]) >= len(name)]


def _compare(
    name: str, names: Sequence[str], scorer: Callable[..., float], least: float
) -> Iterator[tuple[int, float]]:
    from rapidfuzz import process

    for start in range(0, len(names), _BLOCK):
        block = names[start : start + _BLOCK]
        found = process.extract(name, block, scorer=scorer, score_cutoff=least, limit=None)
        yield from sorted((start + place, float(score)) for _, score, place in found)

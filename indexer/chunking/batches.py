"""Parts of a stream."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields lists of `size` items, the last of which may be shorter, as Python 3.12's `itertools.batched` does."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def batched_by_length(items: Iterable[T], length: int, measure: Callable[[T], int]) -> Iterator[list[T]]:
    """Yields lists of items whose lengths add up to at most `length`; a longer item has a list of its own."""
    part: list[T] = []
    total = 0
    for item in items:
        more = measure(item)
        if part and total + more > length:
            yield part
            part, total = [], 0
        part.append(item)
        total += more
    if part:
        yield part

"""Parts of a stream."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["batched"]

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields lists of `size` items, the last of which may be shorter, as Python 3.12's `itertools.batched` does."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part

"""Parts of a stream, and sequences whose items are made when they are read."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, overload

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


class MadeSequence(Sequence[T]):
    """A sequence that keeps its items in less memory, and makes each when it is read. It is equal to a list of them."""

    @abstractmethod
    def make(self, n: int) -> T:
        """Returns the item at a place that the sequence has."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        numbers = range(len(self))[index]
        return self.make(numbers) if isinstance(numbers, int) else [self.make(n) for n in numbers]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it is equal to a list

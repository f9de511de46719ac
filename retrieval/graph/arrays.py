"""Types of arrays; sorted arrays, with lookup of values and each value once; and `Patched`, a long array of numbers of
which few are replaced, and some follow.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.bytes_]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]

_MANY = 64


def find_positions(ids: NDArray[Any], wanted: NDArray[Any], order: Places | None = None) -> Places:
    """Returns the position of each of `wanted` in `ids`, or -1 where it is missing.

    `ids` are sorted, or `order` sorts them.
    """
    if not len(ids) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    # Ids of other lengths are cut, and then not equal: numpy would copy all of `ids` to compare them.
    sought = wanted.astype(ids.dtype) if ids.dtype.kind == "S" else wanted
    at = np.minimum(_search(ids, sought, order), len(ids) - 1)
    if order is not None:
        at = order[at]
    return np.where(ids[at] == wanted, at, -1)


def sort_unique(*parts: Places) -> Places:
    """Returns the numbers of all parts, ascending, each once. `np.unique` hashes them first, which is slower."""
    numbers = np.concatenate(parts)
    numbers.sort()
    return numbers[np.r_[True, numbers[1:] != numbers[:-1]]] if len(numbers) else numbers


def _search(ids: NDArray[Any], sought: NDArray[Any], order: Places | None) -> Places:
    """Searches for many ids in ascending order, so that each search reads memory near the last search. That halves the
    time in a long array.
    """
    if ids.dtype.kind != "S" or len(sought) < _MANY:
        return np.searchsorted(ids, sought, sorter=order)
    by_id = np.argsort(sought)
    at = np.empty(len(sought), np.int64)
    at[by_id] = np.searchsorted(ids, sought[by_id], sorter=order)
    return at


Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, kw_only=True)
class Patched(Generic[Number]):
    """Reads as an array whose numbers at `places`, ascending, are `values`. Places may lie beyond `base`."""

    base: NDArray[Number]
    places: Places
    values: NDArray[Number]
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: Any) -> Any:
        """Returns the numbers at an array of places, or the number at a single place."""
        if np.ndim(at) == 0:
            return self[np.array([at], np.int64)][0]
        out = np.zeros(np.shape(at), self.base.dtype)
        held = np.asarray(at) < len(self.base)
        out[held] = self.base[np.asarray(at)[held]]
        found = find_positions(self.places, np.asarray(at).ravel()).reshape(np.shape(at))
        out[found >= 0] = self.values[found[found >= 0]]
        return out

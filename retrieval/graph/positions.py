"""Sorted arrays: lookup of values, and each value once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "find_positions", "sort_unique"]

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
    """Many ids are sought in their order: the memory that the search of one reads is then near that of the one before,
    which halves the time in a long array.
    """
    if ids.dtype.kind != "S" or len(sought) < _MANY:
        return np.searchsorted(ids, sought, sorter=order)
    by_id = np.argsort(sought)
    at = np.empty(len(sought), np.int64)
    at[by_id] = np.searchsorted(ids, sought[by_id], sorter=order)
    return at

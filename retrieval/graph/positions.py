"""Lookup of values in sorted arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "find_positions"]

Places = NDArray[np.int64]


def find_positions(ids: NDArray[Any], wanted: NDArray[Any], order: Places | None = None) -> Places:
    """Returns the position of each of `wanted` in `ids`, or -1 where it is missing.

    `ids` are sorted, or `order` sorts them.
    """
    if not len(ids) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    # Ids of other lengths are cut, and then not equal: numpy would copy all of `ids` to compare them.
    sought = wanted.astype(ids.dtype) if ids.dtype.kind == "S" else wanted
    at = np.minimum(np.searchsorted(ids, sought, sorter=order), len(ids) - 1)
    if order is not None:
        at = order[at]
    return np.where(ids[at] == wanted, at, -1)

"""`Patched`: a long array of numbers of which few are replaced, and some follow."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.positions import Places, find_positions

__all__ = ["Patched"]

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
        """Returns the numbers at the places in an array, or the one at a single place."""
        if np.ndim(at) == 0:
            return self[np.array([at], np.int64)][0]
        out = np.zeros(np.shape(at), self.base.dtype)
        held = np.asarray(at) < len(self.base)
        out[held] = self.base[np.asarray(at)[held]]
        found = find_positions(self.places, np.asarray(at).ravel()).reshape(np.shape(at))
        out[found >= 0] = self.values[found[found >= 0]]
        return out

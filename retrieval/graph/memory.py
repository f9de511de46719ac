"""The memory of snapshots, for metrics."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

__all__ = ["HeldSnapshots", "count_bytes"]


@dataclass(frozen=True, kw_only=True)
class HeldSnapshots:
    """The snapshots that a process holds: the bytes of their arrays, and the seconds since the one that was compared
    with the record longest ago was compared.
    """

    bytes: int
    age_seconds: float


def count_bytes(values: Iterable[object]) -> int:
    """Returns the bytes of all arrays in dataclasses, each counted once. Python objects in them are not counted."""
    return sum({id(array): array.nbytes for value in values for array in _arrays(value)}.values())


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))

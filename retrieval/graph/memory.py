"""The memory of snapshots, for metrics."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from retrieval.graph.mapped.array_file import is_mapped

__all__ = ["HeldSnapshots", "describe_held"]


@dataclass(frozen=True, kw_only=True)
class HeldSnapshots:
    """The snapshots that a process holds: the bytes of their arrays in its own memory and of those in mapped files,
    which processes share, and the seconds since the one that was compared with the record longest ago was compared.
    """

    bytes: int
    mapped_bytes: int
    age_seconds: float


def describe_held(snapshots: Iterable[object], *, age_seconds: float) -> HeldSnapshots:
    """Counts each array once. Python objects in arrays are not counted."""
    arrays = {id(array): array for snapshot in snapshots for array in _arrays(snapshot)}
    mapped = sum(array.nbytes for array in arrays.values() if is_mapped(array))
    total = sum(array.nbytes for array in arrays.values())
    return HeldSnapshots(bytes=total - mapped, mapped_bytes=mapped, age_seconds=age_seconds)


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))

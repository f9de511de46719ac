"""The arrays of snapshots: how much memory they take, for metrics, and the files in which they lie."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from core.execution.file_mapping import FileMapping
from retrieval.graph.mapped.array_file import find_mapping, is_mapped

__all__ = ["HeldSnapshots", "describe_held", "list_mappings"]


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


def list_mappings(snapshot: object) -> list[FileMapping]:
    """Returns the mappings of the files in which arrays of a snapshot lie, each once."""
    found = {id(mapping): mapping for array in _arrays(snapshot) if (mapping := find_mapping(array)) is not None}
    return list(found.values())


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))

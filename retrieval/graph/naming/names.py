"""The names of entities as one text, so that a file can hold them and a process does not make an object of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.chunk_terms import copy_runs, make_offsets
from retrieval.graph.positions import Places

__all__ = ["Names", "merge_names", "pack_names"]


@dataclass(frozen=True, kw_only=True)
class Names:
    """Names in UTF-8, one after the other: name i is `text[offsets[i]:offsets[i + 1]]`."""

    offsets: Places
    text: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: int) -> str:
        return self.text[self.offsets[at] : self.offsets[at + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        """Reads all names, each when it is its turn."""
        return (self[at] for at in range(len(self)))

    def take(self, at: Iterable[int]) -> list[str]:
        return [self[int(one)] for one in at]

    def select(self, kept: NDArray[np.bool_]) -> "Names":
        """Returns the names whose mask is True."""
        if kept.all():
            return self
        edges = self.offsets[np.flatnonzero(np.diff(kept, prepend=False, append=False))]
        runs = [self.text[start:end] for start, end in edges.reshape(-1, 2).tolist()]
        return Names(offsets=make_offsets(np.diff(self.offsets)[kept]), text=np.concatenate([self.text[:0], *runs]))


def pack_names(names: Iterable[str]) -> Names:
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    return Names(
        offsets=make_offsets(np.fromiter(map(len, encoded), np.int64, len(encoded))),
        text=np.frombuffer(bytearray().join(encoded), np.uint8),
    )


def merge_names(size: int, *parts: tuple[NDArray[np.int32], Names]) -> Names:
    """Returns `size` names; each part has the positions of its names, ascending. A later part replaces an earlier."""
    counts = np.zeros(size, np.int64)
    for at, part in parts:
        counts[at] = np.diff(part.offsets)
    offsets = make_offsets(counts)
    text = np.empty(offsets[-1], np.uint8)
    for at, part in parts:
        same = np.diff(part.offsets) == counts[at]
        copy_runs(text, offsets, at[same], part.text, part.offsets, np.flatnonzero(same))
    return Names(offsets=offsets, text=text)

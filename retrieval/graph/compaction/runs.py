"""Rows of two arrays in a common order, as slices of both: what did not change is not copied."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.chunk_terms import make_offsets
from retrieval.graph.columns import Ints
from retrieval.graph.positions import Places

__all__ = ["BLOCK", "Items", "make_joint_offsets", "read_blocks", "read_runs"]

BLOCK = 1 << 18
"""Rows that are computed at once, which limits the memory that this takes."""

Rows = NDArray[Any]
Convert = Callable[[Rows], Rows]


@dataclass(frozen=True)
class Items:
    """Items of one or more rows each: item i has `rows[offsets[i]:offsets[i + 1]]`. Without offsets, each has one."""

    rows: Rows
    offsets: Places | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.offsets is None else len(self.offsets) - 1

    def slice(self, start: int, end: int) -> Rows:
        if self.offsets is None:
            return self.rows[start:end]
        return self.rows[self.offsets[start] : self.offsets[end]]

    def count_rows(self) -> Places:
        return np.ones(len(self), np.int64) if self.offsets is None else np.diff(self.offsets)


def make_joint_offsets(order: Ints, held: Items, added: Items) -> Places:
    """Returns where the rows of each item begin in what `read_runs` yields, and where the last ends."""
    return make_offsets(np.concatenate([held.count_rows(), added.count_rows()])[order])


def read_runs(order: Ints, held: Items, added: Items, convert: Convert | None = None) -> Iterator[Rows]:
    """Yields the rows of the items in this order, in which those of `added` are numbered after those of `held`.

    Items that follow one another are one slice. With `convert`, slices have `BLOCK` items at most.
    """
    steps = np.diff(order) != 1
    steps |= order[1:] == len(held)
    if convert is not None:
        steps[BLOCK - 1 :: BLOCK] = True
    breaks = np.flatnonzero(steps) + 1
    for start, end in pairwise([0, *breaks.tolist(), len(order)]):
        if start < end:
            rows = _slice(held, added, int(order[start]), int(order[end - 1]) + 1)
            yield rows if convert is None else convert(rows)


def _slice(held: Items, added: Items, start: int, end: int) -> Rows:
    first = len(held)
    return held.slice(start, end) if start < first else added.slice(start - first, end - first)


def read_blocks(order: Ints, read: Callable[[Places], Rows]) -> Iterator[Rows]:
    """Yields what `read` returns for the numbers of each block."""
    for start in range(0, len(order), BLOCK):
        yield read(order[start : start + BLOCK].astype(np.int64))

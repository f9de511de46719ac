"""The stems of chunks with their counts, in memory: how they are read, selected and merged."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.text.terms import TERM, Terms
from retrieval.graph.positions import Places

__all__ = ["PACKED", "ChunkTerms", "copy_runs", "make_offsets", "merge_terms", "read_chunk_terms"]

PACKED = np.dtype("<u8")
"""A row of `core.text.terms.TERM` as one number, which numpy copies several times faster than a structure."""


@dataclass(frozen=True, kw_only=True)
class ChunkTerms:
    """Rows of `core.text.terms.TERM` in the order of the chunks: chunk i has `rows[offsets[i]:offsets[i + 1]]`."""

    offsets: Places
    rows: Terms

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, chunks: Places) -> tuple[Terms, Places]:
        """Returns the rows of these chunks, in their order, and for each row the index into `chunks` that it belongs
        to.
        """
        starts = self.offsets[chunks]
        counts = self.offsets[chunks + 1] - starts
        which = np.repeat(np.arange(len(chunks)), counts)
        at = np.arange(len(which)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return self.rows.view(PACKED)[at].view(TERM), which

    def select(self, chunks: NDArray[np.bool_]) -> "ChunkTerms":
        """Returns the terms of the chunks whose mask is True."""
        edges = self.offsets[np.flatnonzero(np.diff(chunks, prepend=False, append=False))]
        packed = self.rows.view(PACKED)
        runs = [packed[start:end] for start, end in edges.reshape(-1, 2).tolist()]
        rows = np.concatenate([packed[:0], *runs])
        return ChunkTerms(offsets=make_offsets(np.diff(self.offsets)[chunks]), rows=rows.view(TERM))


def read_chunk_terms(ids: Sequence[str], blobs: Sequence[bytes]) -> ChunkTerms:
    """Returns the terms of chunks from their bytes in the record (`core.text.terms.Terms`), chunk by chunk.

    Raises `Unavailable`, naming the chunk, if the bytes are not whole rows.
    """
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    counts, rests = np.divmod(sizes, TERM.itemsize)
    for chunk in np.flatnonzero(rests)[:1].tolist():
        raise Unavailable(
            f"the terms of chunk {ids[chunk]} in the record are damaged: {sizes[chunk]} bytes are no rows of "
            f"{TERM.itemsize}; delete its document and hand it in again"
        )
    rows = np.frombuffer(bytearray().join(blobs), TERM)
    return ChunkTerms(offsets=make_offsets(counts), rows=rows)


def merge_terms(size: int, *parts: tuple[NDArray[np.int32], ChunkTerms]) -> ChunkTerms:
    """Returns the terms of `size` chunks; each part has the positions of its chunks, ascending, and their terms."""
    counts = np.zeros(size, np.int64)
    for at, part in parts:
        counts[at] = np.diff(part.offsets)
    offsets = make_offsets(counts)
    rows = np.empty(offsets[-1], PACKED)
    for at, part in parts:
        copy_runs(rows, offsets, at, part.rows.view(PACKED), part.offsets, np.arange(len(at)))
    return ChunkTerms(offsets=offsets, rows=rows.view(TERM))


def copy_runs(
    out: NDArray[Any],
    offsets: Places,
    at: NDArray[Any],
    source: NDArray[Any],
    source_offsets: Places,
    source_at: NDArray[Any],
) -> None:
    """Copies the rows of the items `source_at` to those of the items `at`, both ascending.

    Few new items leave few runs in which both count up by one, and each run is copied as a whole.
    """
    if not len(at):
        return
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(source_at) != 1)) + 1
    for start, end in pairwise([0, *breaks.tolist(), len(at)]):
        rows = source[source_offsets[source_at[start]] : source_offsets[source_at[end - 1] + 1]]
        out[offsets[at[start]] :][: len(rows)] = rows


def make_offsets(counts: Places) -> Places:
    """Returns where each of several items begins, and where the last ends."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets

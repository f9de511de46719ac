"""The term rows of chunks in memory, and what all of them together tell of a stem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.text.terms import TERM, Terms
from retrieval.graph.lookup import Places, positions

__all__ = ["ChunkTerms", "Stems", "TermStatistics", "placed_terms", "statistics_of", "terms_of_chunks"]

Stems = NDArray[np.uint32]

_PACKED = np.dtype("<u8")  # a row as one number, which numpy moves several times faster than a structure
_BLOCK = 1 << 22  # rows that are counted at once: bounds the memory that it takes


@dataclass(frozen=True, kw_only=True)
class ChunkTerms:
    """Rows of `core.text.terms.TERM` in the order of the chunks: chunk i has `rows[offsets[i]:offsets[i + 1]]`."""

    offsets: Places
    rows: Terms

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, chunks: Places) -> tuple[Terms, Places]:
        """The rows of these chunks, in their order, and the index into `chunks` that each row belongs to."""
        starts = self.offsets[chunks]
        counts = self.offsets[chunks + 1] - starts
        which = np.repeat(np.arange(len(chunks)), counts)
        at = np.arange(len(which)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return self.rows.view(_PACKED)[at].view(TERM), which

    def kept(self, chunks: NDArray[np.bool_]) -> "ChunkTerms":
        """Only the chunks that are True."""
        edges = self.offsets[np.flatnonzero(np.diff(chunks, prepend=False, append=False))]
        packed = self.rows.view(_PACKED)
        runs = [packed[start:end] for start, end in edges.reshape(-1, 2).tolist()]
        rows = np.concatenate([packed[:0], *runs])
        return ChunkTerms(offsets=_offsets(np.diff(self.offsets)[chunks]), rows=rows.view(TERM))


def terms_of_chunks(ids: Sequence[str], blobs: Sequence[bytes]) -> ChunkTerms:
    """Read the bytes of `core.text.terms.Terms`, chunk by chunk."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    counts, rests = np.divmod(sizes, TERM.itemsize)
    for chunk in np.flatnonzero(rests)[:1].tolist():
        raise Unavailable(
            f"the terms of chunk {ids[chunk]} in the record are damaged: {sizes[chunk]} bytes are no rows of "
            f"{TERM.itemsize}; delete its document and hand it in again"
        )
    rows = np.frombuffer(bytearray().join(blobs), TERM)
    return ChunkTerms(offsets=_offsets(counts), rows=rows)


def placed_terms(size: int, *parts: tuple[NDArray[np.int32], ChunkTerms]) -> ChunkTerms:
    """The terms of `size` chunks: each part's chunks stand where its numbers, ascending, say."""
    counts = np.zeros(size, np.int64)
    for at, part in parts:
        counts[at] = np.diff(part.offsets)
    offsets = _offsets(counts)
    rows = np.empty(offsets[-1], _PACKED)
    for at, part in parts:
        packed = part.rows.view(_PACKED)
        for start, end in _runs(at):
            source = packed[part.offsets[start] : part.offsets[end]]
            rows[offsets[at[start]] :][: len(source)] = source
    return ChunkTerms(offsets=offsets, rows=rows.view(TERM))


def _runs(at: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Ranges of `at` that count up by one: few chunks among many leave few, and each is copied as a whole."""
    if not len(at):
        return iter(())
    return pairwise([0, *(np.flatnonzero(np.diff(at) != 1) + 1).tolist(), len(at)])


def _offsets(counts: Places) -> Places:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


@dataclass(frozen=True, kw_only=True)
class TermStatistics:
    """Of each stem (ascending; only those that a chunk holds) how many chunks do, and the sums of TERM's `capital` and
    `lower` over them. `length` is the sum of all counts, so that `length / chunks` is a chunk's mean length.
    """

    stems: Stems
    df: Places
    capital: Places
    lower: Places
    chunks: int
    length: int

    def document_frequency(self, stems: Stems) -> Places:
        """How many chunks hold each of the stems, in whatever order they are given."""
        return _found(self.df, positions(self.stems, stems))

    def casing(self, stems: Stems) -> tuple[Places, Places]:
        """How often each stem stands alone with a capital within a sentence, and how often without one."""
        at = positions(self.stems, stems)
        return _found(self.capital, at), _found(self.lower, at)

    def updated(self, *, removed: ChunkTerms, added: ChunkTerms) -> "TermStatistics":
        """After these chunks have gone and come; what it costs depends on the stems and on these chunks alone."""
        return _sum(_sum(self, statistics_of(added), 1), statistics_of(removed), -1)


def statistics_of(terms: ChunkTerms) -> TermStatistics:
    """The statistics of these chunks alone."""
    total = _counted(terms.rows[:_BLOCK])
    for start in range(_BLOCK, len(terms.rows), _BLOCK):
        total = _sum(total, _counted(terms.rows[start : start + _BLOCK]), 1)
    return replace(total, chunks=len(terms))


def _counted(rows: Terms) -> TermStatistics:
    """One sort of numbers that hold a row's stem above its `capital` and `lower`, as TERM packs them."""
    packed = rows.view(_PACKED).astype(np.uint64)
    keys = packed << np.uint64(32) | packed >> np.uint64(40) & np.uint64(0xFFFF)
    keys.sort()
    stems = (keys >> np.uint64(32)).astype(np.uint32)
    ends = np.flatnonzero(np.diff(stems)) + 1
    starts = np.r_[0, ends] if len(stems) else ends
    return TermStatistics(
        stems=stems[starts],
        df=np.diff(starts, append=len(stems)),
        capital=np.add.reduceat(keys & np.uint64(0xFF), starts).astype(np.int64),
        lower=np.add.reduceat(keys >> np.uint64(8) & np.uint64(0xFF), starts).astype(np.int64),
        chunks=0,
        length=int(rows["count"].sum(dtype=np.int64)),
    )


def _sum(one: TermStatistics, other: TermStatistics, sign: int) -> TermStatistics:
    """`one` with (or, if `sign` is -1, without) the `other`; stems that no chunk is left with are left out."""
    at = positions(one.stems, other.stems)
    known, fresh = at >= 0, at < 0
    places = np.searchsorted(one.stems, other.stems[fresh])

    def merged(mine: Places, theirs: Places) -> Places:
        out = mine.copy()
        out[at[known]] += sign * theirs[known]
        return np.insert(out, places, sign * theirs[fresh])

    df = merged(one.df, other.df)
    held = df > 0
    return TermStatistics(
        stems=np.insert(one.stems, places, other.stems[fresh])[held],
        df=df[held],
        capital=merged(one.capital, other.capital)[held],
        lower=merged(one.lower, other.lower)[held],
        chunks=one.chunks + sign * other.chunks,
        length=one.length + sign * other.length,
    )


def _found(values: Places, at: Places) -> Places:
    out = np.zeros(len(at), np.int64)
    out[at >= 0] = values[at[at >= 0]]
    return out

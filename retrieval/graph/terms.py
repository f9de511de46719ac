"""The stems of chunks with their counts, in memory: how they are read, selected and merged; and statistics of stems
over all chunks.

The statistics are document frequencies for BM25's idf, and casing for truecasing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.ports.retrieval import PassageCounts
from core.text.terms import TERM, Terms, hash_stem
from retrieval.graph.arrays import Places, find_positions

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
    """Copies the rows of the items `source_at` to the rows of the items `at`, both ascending.

    Each run in which both count up by one is copied as a whole. With few new items, there are few runs.
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


Stems = NDArray[np.uint32]

_SAMPLE = 4096
_LEAST_LOWER = 0.1
_BLOCK = 1 << 22
"""Rows that are counted at once, which limits the memory that counting takes."""


@dataclass(frozen=True, kw_only=True)
class TermStatistics:
    """Statistics of each stem that at least one chunk holds, by stem, ascending.

    `df` is the number of chunks that hold the stem; `capital` and `lower` are the sums of TERM's fields of these names.
    `length` is the sum of all counts, so `length / chunks` is the mean length of a chunk in words. `parts` are further
    statistics, each with the sign by which it is added; `chunks` and `length` have them already.
    """

    stems: Stems
    df: Places
    capital: Places
    lower: Places
    chunks: int
    length: int
    parts: tuple[tuple[int, "TermStatistics"], ...] = ()

    @property
    def is_cased(self) -> bool:
        """Whether the corpus writes words with and without capitals, by the first stems, which are a random sample as
        stems are ordered by their hashes. In a text in capitals no word shows that it is a name.
        """
        lower, df = (self.lower[:_SAMPLE], self.df[:_SAMPLE]) if not self.parts else self._sample()
        return bool(lower.sum() >= _LEAST_LOWER * df.sum())

    def _sample(self) -> tuple[Places, Places]:
        """Returns `lower` and `df` of the first stems that a chunk holds after `parts` are added."""
        first = _SAMPLE + sum(len(part.stems) for sign, part in self.parts if sign < 0)
        stems = np.unique(np.concatenate([self.stems[:first], *(part.stems[:first] for _, part in self.parts)]))
        stems = stems[self.document_frequency(stems) > 0][:_SAMPLE]
        return self.casing(stems)[1], self.document_frequency(stems)

    def document_frequency(self, stems: Stems) -> Places:
        """Returns the number of chunks that hold each of the stems, which may come in any order."""
        found = _look_up(self.df, find_positions(self.stems, stems))
        for sign, part in self.parts:
            found += sign * part.document_frequency(stems)
        return found

    def casing(self, stems: Stems) -> tuple[Places, Places]:
        """Returns how often each stem occurs with a capital, alone and within a sentence, and how often without."""
        at = find_positions(self.stems, stems)
        capital, lower = _look_up(self.capital, at), _look_up(self.lower, at)
        for sign, part in self.parts:
            more = part.casing(stems)
            capital, lower = capital + sign * more[0], lower + sign * more[1]
        return capital, lower

    def apply(self, *, removed: ChunkTerms, added: ChunkTerms) -> "TermStatistics":
        """Returns the statistics without the removed and with the added chunks.

        The cost depends on the number of stems and on these chunks alone.
        """
        return _add(_add(self, count_terms(added), 1), count_terms(removed), -1)

    def layer(self, *, removed: ChunkTerms, added: ChunkTerms) -> "TermStatistics":
        """Returns what `apply` returns, at a cost that depends on these chunks alone: sums are formed on demand."""
        plus, minus = count_terms(added), count_terms(removed)
        return replace(
            self,
            chunks=self.chunks + plus.chunks - minus.chunks,
            length=self.length + plus.length - minus.length,
            parts=((1, plus), (-1, minus)),
        )


_MOST = 200
"""The greatest number of stems of a question, the rarest first, so that a pasted text does not cost memory."""


def keep_rarest(stems: Stems, statistics: TermStatistics) -> tuple[Stems, NDArray[np.float64]]:
    """Returns at most `_MOST` of the stems, which are ascending, with their idf."""
    idf = bm25_idf(statistics, stems)
    if len(stems) <= _MOST:
        return stems, idf
    kept = np.sort(np.argsort(-idf, kind="stable")[:_MOST])
    return stems[kept], idf[kept]


def bm25_idf(statistics: TermStatistics, stems: Stems) -> NDArray[np.float64]:
    """Returns Lucene's idf: ln(1 + (n - df + 0.5) / (df + 0.5)); 0 for a stem that no chunk has."""
    df = statistics.document_frequency(stems)
    return np.where(df > 0, np.log1p((statistics.chunks - df + 0.5) / (df + 0.5)), 0.0)


def count_passages(parts: Sequence[TermStatistics], stems: Collection[str]) -> PassageCounts:
    """Returns how many chunks of all parts hold each of the stems."""
    hashes = np.array([hash_stem(stem) for stem in stems], np.uint32)
    having = sum((part.document_frequency(hashes) for part in parts), np.zeros(len(hashes), np.int64))
    return PassageCounts(
        passages=sum(part.chunks for part in parts), having=dict(zip(stems, having.tolist(), strict=True))
    )


def count_terms(terms: ChunkTerms) -> TermStatistics:
    """Returns the statistics of these chunks alone."""
    total = _count_rows(terms.rows[:_BLOCK])
    for start in range(_BLOCK, len(terms.rows), _BLOCK):
        total = _add(total, _count_rows(terms.rows[start : start + _BLOCK]), 1)
    return replace(total, chunks=len(terms))


def _count_rows(rows: Terms) -> TermStatistics:
    """Returns the statistics of rows; `chunks` is 0.

    It sorts numbers once that hold a row's stem above its `capital` and `lower`, as TERM packs them.
    """
    packed = rows.view(PACKED).astype(np.uint64)
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


def _add(one: TermStatistics, other: TermStatistics, sign: int) -> TermStatistics:
    """Returns the sum of both, or the difference if `sign` is -1, without stems that no chunk holds any more."""
    at = find_positions(one.stems, other.stems)
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


def _look_up(values: Places, at: Places) -> Places:
    out = np.zeros(len(at), np.int64)
    out[at >= 0] = values[at[at >= 0]]
    return out

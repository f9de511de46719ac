"""Writes a snapshot together with the changes over it to a file, without holding either in memory.

The arrays of the file are the arrays of a snapshot built anew. Chunks, entities and documents get new numbers; the
edges are written some rows at a time. What did not change is not copied: rows of two arrays in a common order are
slices of both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from retrieval.graph.adjacency import Adjacency
from retrieval.graph.arrays import Ids, Ints, Places, find_positions
from retrieval.graph.columns import encode_ids
from retrieval.graph.joined import select_terms
from retrieval.graph.layered import LayeredSnapshot
from retrieval.graph.names import pack_names
from retrieval.graph.snapshot import count_places
from retrieval.graph.snapshot_format import LAYOUT, FileContent, Stream, StreamedArray
from retrieval.graph.terms import PACKED, make_offsets


def encode_compacted(corpus_id: str, snapshot: LayeredSnapshot) -> FileContent:
    """Returns what `encode_snapshot` returns for `snapshot.flat()`, with arrays that are made while they are written.

    The snapshot is not copied: besides a few numbers for each chunk and entity, only a block of rows is in memory.
    """
    places = count_places(snapshot.whole.passages)
    plan = _Plan(snapshot, _number_rows(snapshot, places))
    plan.add_chunks()
    plan.add_titles()
    plan.add_entities()
    plan.add_synonyms()
    plan.add_edges()
    plan.add_statistics()
    statistics = {"chunks": snapshot.statistics.chunks, "length": snapshot.statistics.length, "places": places}
    return FileContent(
        layout=LAYOUT,
        corpus_id=corpus_id,
        generation=snapshot.generation,
        numbers=statistics,
        arrays=plan.arrays,
        streams=plan.streams,
    )


@dataclass(frozen=True, kw_only=True)
class Numbering:
    """The rows of the result in their order, each by its number in the `LayeredSnapshot`.

    `new_documents` are the documents of the delta that the base does not have; they follow the documents of the base.
    `document_of` has the number of each document of the delta. Nodes are chunks, free places of chunks, and entities.
    The result has `places` chunks and free places.
    """

    chunks: Ints
    entities: Ints
    documents: Ints
    document_of: Places
    new_documents: Ids
    places: int
    held_places: int
    joined_chunks: int
    joined_entities: int
    joined_documents: int

    @cached_property
    def chunk_to(self) -> Ints:
        """The number in the result of each chunk of the `LayeredSnapshot`, -1 for deleted chunks."""
        return _invert(self.chunks, self.joined_chunks)

    @cached_property
    def entity_to(self) -> Ints:
        return _invert(self.entities, self.joined_entities)

    @cached_property
    def document_to(self) -> Ints:
        return _invert(self.documents, self.joined_documents)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes of the result, each by its number in the `LayeredSnapshot`; -1 for free places."""
        free = np.full(self.places - len(self.chunks), -1, np.int32)
        return np.concatenate([self.chunks, free, self.entities + np.int32(self.held_places)])

    @cached_property
    def node_to(self) -> Ints:
        return _invert(self.nodes, self.held_places + self.joined_entities)


Rows = NDArray[Any]
Convert = Callable[[Rows], Rows]


@dataclass(frozen=True)
class Items:
    """Items of rows: item i has `rows[offsets[i]:offsets[i + 1]]`. Without offsets, each item has one row."""

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


@dataclass(frozen=True)
class _Plan:
    """The arrays of the file by name, and the streams that make them."""

    snapshot: LayeredSnapshot
    numbering: Numbering
    arrays: dict[str, NDArray[Any] | StreamedArray] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)

    def add_chunks(self) -> None:
        base, added, joined = self.snapshot.base, self.snapshot.delta.added, self.snapshot.joined
        numbers, chunks = self.numbering, self.numbering.chunks
        self._copy("chunk_ids", chunks, base.columns.chunk_ids, added.chunk_ids)
        self._copy("view_ids", chunks, base.columns.view_ids, added.view_ids)
        self._copy("position", chunks, base.columns.position, added.position)
        self._copy_both("title_ids", chunks, Items(base.columns.title_ids), Items(added.title_ids))
        self._copy("document_ids", numbers.documents, base.columns.document_ids, numbers.new_documents)
        owners = numbers.document_of[added.document_of].astype(np.int32)
        document_of = np.concatenate(
            list(_read_runs(chunks, Items(base.columns.document_of), Items(owners), numbers.document_to.take))
            or [np.zeros(0, np.int32)]
        )
        self.arrays["document_of"] = document_of
        self.arrays["document_sizes"] = np.bincount(document_of, minlength=len(numbers.documents))
        views = Items(base.columns.view_ids), Items(added.view_ids)
        self._make("view_order", np.int64, len(chunks), lambda: iter([_sort(_read_runs(chunks, *views))]))
        held = Items(base.columns.terms.rows.view(PACKED), base.columns.terms.offsets)
        new = Items(added.terms.rows.view(PACKED), added.terms.offsets)
        self.arrays["term_offsets"] = _make_joint_offsets(chunks, held, new)
        self._copy_both("terms", chunks, held, new, prefixes=("",))
        starts = base.whole.adjacency.indptr[: len(base.columns.chunk_ids) + 1]  # a chunk's edges are its mentions
        mentions = Items(joined.mentions, _find_starts(added.mentions, len(added.chunk_ids)))
        self._copy_both("mentions", chunks, Items(base.columns.mentions, starts), mentions, self._renumber)
        facts = Items(joined.facts, _find_starts(added.facts, len(added.chunk_ids)))
        held = Items(base.columns.facts, base.lookups.fact_offsets)
        self.arrays["fact_offsets"] = _make_joint_offsets(chunks, held, facts)
        self._copy_both("facts", chunks, held, facts, self._renumber)

    def add_titles(self) -> None:
        titles, open_ids = self._read_titles()
        self.arrays["titles"] = titles
        self.arrays["open_titles"], self.arrays["open_counts"] = np.unique(open_ids, return_counts=True)

    def add_entities(self) -> None:
        base, joined, entities = self.snapshot.base, self.snapshot.joined, self.numbering.entities
        index = self.snapshot.names.added
        assert index is not None  # noqa: S101 - for the type checker: `join` makes it
        self._copy_both("entity_ids", entities, Items(base.columns.entity_ids), Items(joined.new_ids))
        held = Items(base.columns.names.text, base.columns.names.offsets)
        new = Items(index.names.text, index.names.offsets)
        names = ("stated ", "columns ", "index ")
        offsets = _make_joint_offsets(entities, held, new)
        self.arrays.update({f"{name}name_offsets": offsets for name in names})
        self._copy_both("name_text", entities, held, new, prefixes=names)
        self.arrays["name entity_of"] = np.arange(len(entities), dtype=np.int32)
        self._copy("name hashes", entities, base.names.hashes, index.hashes)
        hashes = Items(base.names.hashes), Items(index.hashes)
        self._make("name order", np.int64, len(entities), lambda: iter([_sort(_read_runs(entities, *hashes))]))
        counts = {"entity_df": self.snapshot.whole.df, "fact_counts": joined.fact_counts, "title_shares": joined.titled}
        for name, patched in counts.items():
            self._make(name, np.int64, len(entities), lambda counts=patched: _read_blocks(entities, counts.__getitem__))
        self.arrays["merges"] = encode_ids(())
        no_names = pack_names(())
        self.arrays.update({"merge name_offsets": no_names.offsets, "merge name_text": no_names.text})

    def add_synonyms(self) -> None:
        base, joined, to = self.snapshot.base.columns, self.snapshot.joined, self.numbering.entity_to
        held = np.delete(base.synonyms, joined.lost_synonyms, axis=0)
        pairs = np.sort(to[np.concatenate([held, joined.synonyms.astype(np.int32)])], axis=1)
        keys = pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
        order = np.argsort(keys)
        scores = np.concatenate([np.delete(base.scores, joined.lost_synonyms), joined.scores])[order]
        pairs = pairs[order]
        for prefix in ("stated ", ""):
            self.arrays.update({f"{prefix}synonyms": pairs, f"{prefix}scores": scores})
        self.arrays["synonym_keys"] = keys[order]

    def add_edges(self) -> None:
        graph, numbering = self.snapshot.whole.adjacency, self.numbering
        indptr = _start_rows(graph, numbering)
        edges, size = int(indptr[-1]), len(indptr) - 1
        made = {
            "indices": StreamedArray(np.dtype(np.int32), (edges,)),
            "weights": StreamedArray(np.dtype(np.float32), (edges,)),
            "degree": StreamedArray(np.dtype(np.float64), (size,)),
        }
        self.arrays.update({"indptr": indptr, **made})
        self.streams.append(Stream((*made.values(),), lambda: _read_rows(graph, numbering, indptr)))

    def add_statistics(self) -> None:
        base, delta = self.snapshot.base, self.snapshot.delta
        found = base.statistics.apply(removed=select_terms(base, delta.removed), added=delta.added.terms)
        self.arrays.update({name: getattr(found, name) for name in ("stems", "df", "capital", "lower")})

    def _read_titles(self) -> tuple[Ints, Ids]:
        """Returns the entities of titles, and the ids of titles that are no entities."""
        parts = [self._read_title_block(part) for part in _split(self.numbering.chunks)]
        titles = np.concatenate([np.zeros((0, 2), np.int32), *(titles for titles, _ in parts)])
        return titles, np.concatenate([np.zeros(0, "S32"), *(ids for _, ids in parts)])

    def _read_title_block(self, chunks: Ints) -> tuple[Ints, Ids]:
        base, joined, added = self.snapshot.base, self.snapshot.joined, self.snapshot.delta.added
        held = chunks < joined.first_chunk
        ids = np.zeros((len(chunks), 2), "S32")
        ids[held] = base.columns.title_ids[chunks[held]]
        ids[~held] = added.title_ids[chunks[~held] - joined.first_chunk]
        at = np.full((len(chunks), 2), -1, np.int64)
        at[held] = base.titles[chunks[held]]
        at[~held] = self.snapshot.titles_of(chunks[~held].astype(np.int64))
        unknown = (at < 0) & (ids != b"")
        new = find_positions(joined.new_ids, ids[unknown])
        at[unknown] = np.where(new >= 0, len(base.columns.entity_ids) + new, -1)
        titles = np.full(at.shape, -1, np.int32)
        titles[at >= 0] = self.numbering.entity_to[at[at >= 0]]
        return titles, ids[(titles < 0) & (ids != b"")]

    def _renumber(self, rows: NDArray[Any]) -> Ints:
        """Returns (chunk, entity …) rows with the numbers of the result."""
        out = np.empty(rows.shape, np.int32)
        out[:, 0], out[:, 1:] = self.numbering.chunk_to[rows[:, 0]], self.numbering.entity_to[rows[:, 1:]]
        return out

    def _copy(self, name: str, order: Ints, held: NDArray[Any], added: NDArray[Any]) -> None:
        self._copy_both(name, order, Items(held), Items(added), prefixes=("",))

    def _copy_both(
        self,
        name: str,
        order: Ints,
        held: Items,
        added: Items,
        convert: Convert | None = None,
        *,
        prefixes: tuple[str, ...] = ("stated ", ""),
    ) -> None:
        """Adds an array that has each of the names."""
        size = len(order) if held.offsets is None else int(_make_joint_offsets(order, held, added)[-1])
        made = StreamedArray(held.rows.dtype, (size, *held.rows.shape[1:]))
        self.arrays.update({prefix + name: made for prefix in prefixes})
        self.streams.append(Stream((made,), lambda: ((part,) for part in _read_runs(order, held, added, convert))))

    def _make(self, name: str, dtype: DTypeLike, size: int, blocks: Any) -> None:
        made = self.arrays[name] = StreamedArray(np.dtype(dtype), (size,))
        self.streams.append(Stream((made,), lambda: ((part,) for part in blocks())))


def _sort(parts: Iterator[NDArray[Any]]) -> Places:
    """Returns the indices that sort an array with these parts."""
    listed = list(parts)
    return np.argsort(np.concatenate(listed), kind="stable") if listed else np.zeros(0, np.int64)


def _split(order: Ints) -> Iterator[Ints]:
    return (order[start : start + BLOCK] for start in range(0, len(order), BLOCK))


def _find_starts(rows: Ints, chunks: int) -> Places:
    """Returns where the rows of each chunk begin in a table that is sorted by chunk, and where the last ends."""
    return np.searchsorted(rows[:, 0], np.arange(chunks + 1))


def _number_rows(snapshot: LayeredSnapshot, places: int) -> Numbering:
    """Returns the numbers of a result that has `places` for chunks."""
    base, added, joined = snapshot.base.columns, snapshot.delta.added, snapshot.joined
    document_of = find_positions(base.document_ids, added.document_ids)
    document_of[np.isin(document_of, snapshot.empty_documents)] = -1
    new_documents = added.document_ids[document_of < 0]
    document_of[document_of < 0] = len(base.document_ids) + np.arange(len(new_documents))
    return Numbering(
        chunks=_merge(base.chunk_ids, snapshot.delta.removed, added.chunk_ids),
        entities=_merge(base.entity_ids, joined.gone, joined.new_ids),
        documents=_merge(base.document_ids, snapshot.empty_documents, new_documents),
        document_of=document_of,
        new_documents=new_documents,
        places=places,
        held_places=snapshot.whole.chunks,
        joined_chunks=len(base.chunk_ids) + len(added.chunk_ids),
        joined_entities=len(base.entity_ids) + len(joined.new_ids),
        joined_documents=len(base.document_ids) + len(new_documents),
    )


def _merge(held: Ids, gone: Places, added: Ids) -> Ints:
    """Returns the numbers of the ids of `held`, except the places `gone`, and of `added`, in the order of the ids.

    All ids are sorted. The ids of `added` are numbered after the ids of `held`.
    """
    kept = np.delete(np.arange(len(held), dtype=np.int32), gone)
    at = np.searchsorted(held, added.astype(held.dtype)) if len(held) else np.zeros(len(added), np.int64)
    at = at - np.searchsorted(gone, at)
    return np.insert(kept, at, np.arange(len(held), len(held) + len(added), dtype=np.int32))


def _invert(numbers: Ints, size: int) -> Ints:
    places = np.full(size, -1, np.int32)
    there = numbers >= 0
    places[numbers[there]] = np.flatnonzero(there)
    return places


EdgeRows = tuple[Ints, NDArray[np.float32], NDArray[np.float64]]


def _start_rows(graph: Adjacency, numbering: Numbering) -> Places:
    """Returns `Adjacency.indptr` of the result."""
    nodes = numbering.nodes
    counts = np.zeros(len(nodes), np.int64)
    held = (nodes >= 0) & (nodes < len(graph.indptr) - 1)
    at = nodes[held]
    counts[held] = graph.indptr[at + 1] - graph.indptr[at]
    if (changes := graph.changes) is not None:
        to = numbering.node_to[changes.nodes]
        differences = np.diff(changes.gained_at) - np.diff(changes.lost_at)
        counts[to[to >= 0]] += differences[to >= 0]
    return make_offsets(counts)


def _read_rows(graph: Adjacency, numbering: Numbering, indptr: Places) -> Iterator[EdgeRows]:
    """Yields `indices`, `weights` and `degree` of the result, for groups of nodes with some `BLOCK` edges each."""
    cuts = np.searchsorted(indptr, np.arange(BLOCK, indptr[-1], BLOCK))
    for start, end in pairwise(np.unique([0, *cuts.tolist(), len(indptr) - 1]).tolist()):
        yield _read_block(graph, numbering, start, end)


def _read_block(graph: Adjacency, numbering: Numbering, start: int, end: int) -> EdgeRows:
    nodes = numbering.nodes[start:end]
    there = np.flatnonzero(nodes >= 0)
    owner, others, weights = graph.rows(nodes[there].astype(np.int64))
    owner, to = there[owner], numbering.node_to[others]
    order = np.argsort(owner << 32 | to)
    weights = weights[order]
    return to[order], weights, np.bincount(owner[order], weights=weights, minlength=end - start).astype(np.float64)


BLOCK = 1 << 18
"""Rows that are computed at once, which limits the memory that this takes."""


def _make_joint_offsets(order: Ints, held: Items, added: Items) -> Places:
    """Returns where the rows of each item begin in what `_read_runs` yields, and where the last ends."""
    return make_offsets(np.concatenate([held.count_rows(), added.count_rows()])[order])


def _read_runs(order: Ints, held: Items, added: Items, convert: Convert | None = None) -> Iterator[Rows]:
    """Yields the rows of the items in `order`, which numbers the items of `added` after the items of `held`.

    Items with successive numbers are one slice. With `convert`, slices have `BLOCK` items at most.
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


def _read_blocks(order: Ints, read: Callable[[Places], Rows]) -> Iterator[Rows]:
    """Yields what `read` returns for the numbers of each block."""
    for start in range(0, len(order), BLOCK):
        yield read(order[start : start + BLOCK].astype(np.int64))

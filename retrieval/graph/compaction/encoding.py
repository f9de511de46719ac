"""What the file of a snapshot and the changes over it contains. Its arrays are those of a snapshot built anew."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from retrieval.graph.chunk_terms import PACKED
from retrieval.graph.columns import Ids, Ints, encode_ids
from retrieval.graph.compaction.edges import read_rows, start_rows
from retrieval.graph.compaction.numbering import Numbering, number_rows
from retrieval.graph.compaction.runs import BLOCK, Convert, Items, make_joint_offsets, read_blocks, read_runs
from retrieval.graph.flat import count_places
from retrieval.graph.layers.delta import select_terms
from retrieval.graph.layers.layered import LayeredSnapshot
from retrieval.graph.mapped.array_file import FileContent, Stream, StreamedArray
from retrieval.graph.mapped.layout import LAYOUT
from retrieval.graph.naming.names import pack_names
from retrieval.graph.positions import Places, find_positions

__all__ = ["encode_compacted"]


def encode_compacted(corpus_id: str, snapshot: LayeredSnapshot) -> FileContent:
    """Returns what `encode_snapshot` returns for `snapshot.flat()`, with arrays that are made while they are written.

    The snapshot is not copied: besides a few numbers for each chunk and entity, only a block of rows is in memory.
    """
    places = count_places(snapshot.whole.passages)
    plan = _Plan(snapshot, number_rows(snapshot, places))
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
            list(read_runs(chunks, Items(base.columns.document_of), Items(owners), numbers.document_to.take))
            or [np.zeros(0, np.int32)]
        )
        self.arrays["document_of"] = document_of
        self.arrays["document_sizes"] = np.bincount(document_of, minlength=len(numbers.documents))
        views = Items(base.columns.view_ids), Items(added.view_ids)
        self._make("view_order", np.int64, len(chunks), lambda: iter([_sort(read_runs(chunks, *views))]))
        held = Items(base.columns.terms.rows.view(PACKED), base.columns.terms.offsets)
        new = Items(added.terms.rows.view(PACKED), added.terms.offsets)
        self.arrays["term_offsets"] = make_joint_offsets(chunks, held, new)
        self._copy_both("terms", chunks, held, new, prefixes=("",))
        starts = base.whole.adjacency.indptr[: len(base.columns.chunk_ids) + 1]  # a chunk's edges are its mentions
        mentions = Items(joined.mentions, _find_starts(added.mentions, len(added.chunk_ids)))
        self._copy_both("mentions", chunks, Items(base.columns.mentions, starts), mentions, self._renumber)
        facts = Items(joined.facts, _find_starts(added.facts, len(added.chunk_ids)))
        held = Items(base.columns.facts, base.lookups.fact_offsets)
        self.arrays["fact_offsets"] = make_joint_offsets(chunks, held, facts)
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
        offsets = make_joint_offsets(entities, held, new)
        self.arrays.update({f"{name}name_offsets": offsets for name in names})
        self._copy_both("name_text", entities, held, new, prefixes=names)
        self.arrays["name entity_of"] = np.arange(len(entities), dtype=np.int32)
        self._copy("name hashes", entities, base.names.hashes, index.hashes)
        hashes = Items(base.names.hashes), Items(index.hashes)
        self._make("name order", np.int64, len(entities), lambda: iter([_sort(read_runs(entities, *hashes))]))
        counts = {"entity_df": self.snapshot.whole.df, "fact_counts": joined.fact_counts, "title_shares": joined.titled}
        for name, patched in counts.items():
            self._make(name, np.int64, len(entities), lambda counts=patched: read_blocks(entities, counts.__getitem__))
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
        indptr = start_rows(graph, numbering)
        edges, size = int(indptr[-1]), len(indptr) - 1
        made = {
            "indices": StreamedArray(np.dtype(np.int32), (edges,)),
            "weights": StreamedArray(np.dtype(np.float32), (edges,)),
            "degree": StreamedArray(np.dtype(np.float64), (size,)),
        }
        self.arrays.update({"indptr": indptr, **made})
        self.streams.append(Stream((*made.values(),), lambda: read_rows(graph, numbering, indptr)))

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
        size = len(order) if held.offsets is None else int(make_joint_offsets(order, held, added)[-1])
        made = StreamedArray(held.rows.dtype, (size, *held.rows.shape[1:]))
        self.arrays.update({prefix + name: made for prefix in prefixes})
        self.streams.append(Stream((made,), lambda: ((part,) for part in read_runs(order, held, added, convert))))

    def _make(self, name: str, dtype: DTypeLike, size: int, blocks: Any) -> None:
        made = self.arrays[name] = StreamedArray(np.dtype(dtype), (size,))
        self.streams.append(Stream((made,), lambda: ((part,) for part in blocks())))


def _sort(parts: Iterator[NDArray[Any]]) -> Places:
    """Returns what sorts an array, of which these are the parts."""
    listed = list(parts)
    return np.argsort(np.concatenate(listed), kind="stable") if listed else np.zeros(0, np.int64)


def _split(order: Ints) -> Iterator[Ints]:
    return (order[start : start + BLOCK] for start in range(0, len(order), BLOCK))


def _find_starts(rows: Ints, chunks: int) -> Places:
    """Returns where the rows of each chunk begin in a table that is sorted by chunk, and where the last ends."""
    return np.searchsorted(rows[:, 0], np.arange(chunks + 1))

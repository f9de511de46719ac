"""A corpus' graph as columns of numbers: what they mean, how they are built, updated and merged.

Rows are sorted by id and numbered in that order, so that equal content gives equal numbers. Columns are built from rows
of the record. Changes of the record are applied without reading unchanged rows again. A merged entity's rows become
rows of the entity that it is merged into.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphChunk, GraphMerge, GraphRows
from core.record_policy.merges import find_end
from retrieval.graph.arrays import Ids, Ints, Places, find_positions
from retrieval.graph.names import Names, merge_names, pack_names
from retrieval.graph.terms import ChunkTerms, merge_terms, read_chunk_terms


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The rows of a corpus' graph in canonical order. Integer columns are positions in the sorted `*_ids`.

    `position` is the position of a chunk in its document. `title_ids` (chunks, 2) are the ids of the entities that its
    title and heading name; b"" where there is none. `mentions` are (chunk, entity), each once. `facts` are (chunk,
    subject, object), one row for each assertion. `synonyms` are (entity, entity) with the smaller first, and `scores`
    are their cosines. `names` are the entities' normalised names.
    """

    chunk_ids: Ids
    view_ids: Ids
    document_ids: Ids
    document_of: Ints
    position: Ints
    title_ids: Ids
    terms: ChunkTerms
    entity_ids: Ids
    names: Names
    mentions: Ints
    facts: Ints
    synonyms: Ints
    scores: NDArray[np.float32]

    def chunks_of(self, documents: Collection[str]) -> NDArray[np.bool_]:
        """Returns the mask of the chunks of these documents."""
        found = find_positions(self.document_ids, encode_ids(documents))
        kept = np.zeros(len(self.document_ids), np.bool_)
        kept[found[found >= 0]] = True
        return kept[self.document_of]

    def named_by(self, chunks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns the mask of the entities that these chunks mention, or of which they assert facts."""
        named = np.zeros(len(self.entity_ids), np.bool_)
        named[self.mentions[chunks[self.mentions[:, 0]], 1]] = True
        named[self.facts[chunks[self.facts[:, 0]], 1:].ravel()] = True
        return named


def encode_ids(texts: Iterable[str]) -> Ids:
    """Returns ids as fixed-width bytes, which take a fifth of the memory of strings."""
    return np.array([text.encode() for text in texts] or np.zeros(0, "S32"), dtype=np.bytes_)


def _keep_rows(
    columns: Columns, *, chunks: NDArray[np.bool_] | None = None, entities: NDArray[np.bool_] | None = None
) -> Columns:
    """Returns the columns without the chunks or entities whose mask is False. No other row may name these.

    A document without remaining chunks is left out.
    """
    if chunks is not None and not chunks.all():
        document_of = columns.document_of[chunks]
        documents = np.zeros(len(columns.document_ids), np.bool_)
        documents[document_of] = True
        columns = replace(
            columns,
            chunk_ids=columns.chunk_ids[chunks],
            view_ids=columns.view_ids[chunks],
            document_ids=columns.document_ids[documents],
            document_of=_number_kept(documents)[document_of],
            position=columns.position[chunks],
            title_ids=columns.title_ids[chunks],
            terms=columns.terms.select(chunks),
        )
        columns = _renumber(columns, chunk=_number_kept(chunks))
    if entities is not None and not entities.all():
        columns = replace(columns, entity_ids=columns.entity_ids[entities], names=columns.names.select(entities))
        columns = _renumber(columns, entity=_number_kept(entities))
    return columns


def _number_kept(kept: NDArray[np.bool_]) -> Ints:
    return (np.cumsum(kept) - 1).astype(np.int32)


def _renumber(columns: Columns, *, chunk: Ints | None = None, entity: Ints | None = None) -> Columns:
    """Returns the columns with chunks and entities renumbered in every table."""
    mentions, facts = columns.mentions.copy(), columns.facts.copy()
    synonyms = columns.synonyms
    if chunk is not None:
        mentions[:, 0], facts[:, 0] = chunk[mentions[:, 0]], chunk[facts[:, 0]]
    if entity is not None:
        mentions[:, 1], facts[:, 1:] = entity[mentions[:, 1]], entity[facts[:, 1:]]
        synonyms = entity[synonyms]
    return replace(columns, mentions=mentions, facts=facts, synonyms=synonyms)


def build_columns(rows: GraphRows) -> Columns:
    """Returns the columns of these rows. Entities that no mention and no fact names are left out, with their
    synonyms.
    """
    return canonicalise(read_columns(rows))


def read_columns(rows: GraphRows) -> Columns:
    """Returns the rows as columns that are not in canonical order and may hold entities that only synonyms name."""
    documents = sorted({chunk.document_id for chunk in rows.chunks})
    document_at = {id: number for number, id in enumerate(documents)}
    return Columns(
        chunk_ids=encode_ids(chunk.id for chunk in rows.chunks),
        view_ids=encode_ids(chunk.view_id for chunk in rows.chunks),
        document_ids=encode_ids(documents),
        document_of=np.array([document_at[chunk.document_id] for chunk in rows.chunks], np.int32),
        position=np.array([chunk.position for chunk in rows.chunks], np.int32),
        title_ids=_title_ids(rows.chunks),
        terms=read_chunk_terms([chunk.id for chunk in rows.chunks], [chunk.terms for chunk in rows.chunks]),
        entity_ids=rows.entity_ids,
        names=pack_names(rows.names),
        mentions=rows.mentions,
        facts=rows.facts,
        synonyms=rows.synonyms,
        scores=rows.scores,
    )


def _title_ids(chunks: Sequence[GraphChunk]) -> Ids:
    return np.array([chunk.title_names.partition(" ")[::2] for chunk in chunks], "S32").reshape(-1, 2)


def canonicalise(columns: Columns) -> Columns:
    """Returns the columns without unsupported entities, ordered and numbered by id, with each mention and
    synonym once.
    """
    supported = np.zeros(len(columns.entity_ids), np.bool_)
    supported[columns.mentions[:, 1]] = True
    supported[columns.facts[:, 1:].ravel()] = True
    linked = supported[columns.synonyms].all(axis=1)
    columns = replace(columns, synonyms=columns.synonyms[linked], scores=columns.scores[linked])
    columns = _keep_rows(columns, entities=supported)
    pairs = np.sort(columns.synonyms, axis=1)
    order = np.lexsort((-columns.scores, pairs[:, 1], pairs[:, 0]))
    pairs, scores = pairs[order], columns.scores[order]
    first = _find_changes(pairs)
    return replace(
        columns,
        mentions=_sort_pairs(columns.mentions),
        facts=_sort_rows(columns.facts),
        synonyms=pairs[first],
        scores=scores[first],
    )


def _sort_pairs(table: Ints) -> Ints:
    """Returns the rows of two columns in order, each once. As single numbers they sort ten times faster."""
    keys = table[:, 0].astype(np.int64) << 32 | table[:, 1]
    keys.sort()  # not np.unique, which hashes first and is slower
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)


def _sort_rows(table: Ints) -> Ints:
    return table[np.lexsort(table.T[::-1])]


def _find_changes(table: Ints) -> NDArray[np.bool_]:
    """Returns the mask of the rows of a sorted table that differ from the row before."""
    first = np.ones(len(table), np.bool_)
    first[1:] = (table[1:] != table[:-1]).any(axis=1)
    return first


class ColumnUpdate(NamedTuple):
    """New columns, and the terms of the chunks that were removed and added. A changed chunk's terms are in both."""

    columns: Columns
    removed: ChunkTerms
    added: ChunkTerms


def update_columns(old: Columns, changes: GraphChanges) -> ColumnUpdate:
    """Returns what `build_columns` would make of the changed rows, without reading the unchanged rows again."""
    return join_columns(
        old,
        read_columns(changes.added),
        removed=encode_ids(changes.removed),
        unlinked=encode_ids(changes.synonyms_of),
    )


def join_columns(old: Columns, new: Columns, *, removed: Ids, unlinked: Ids) -> ColumnUpdate:
    """Returns the old columns without some chunks, and without the synonyms of some entities, with the new columns.

    Chunks that are in both have the rows of `new`.
    """
    gone = _mask_of(old.chunk_ids, removed)
    again = find_positions(old.chunk_ids, new.chunk_ids)
    gone[again[again >= 0]] = True
    unlinked_mask = _mask_of(old.entity_ids, unlinked)
    linked = ~unlinked_mask[old.synonyms].any(axis=1)
    kept = _keep_rows(
        replace(
            old,
            mentions=old.mentions[~gone[old.mentions[:, 0]]],
            facts=old.facts[~gone[old.facts[:, 0]]],
            synonyms=old.synonyms[linked],
            scores=old.scores[linked],
        ),
        chunks=~gone,
    )
    return ColumnUpdate(canonicalise(_join(kept, new)), removed=old.terms.select(gone), added=new.terms)


def _mask_of(ids: Ids, wanted: Ids) -> NDArray[np.bool_]:
    """Returns the mask of the `ids` that are in `wanted`. Unknown ids in `wanted` are ignored."""
    mask = np.zeros(len(ids), np.bool_)
    found = find_positions(ids, wanted)
    mask[found[found >= 0]] = True
    return mask


def _join(old: Columns, new: Columns) -> Columns:
    """Returns the rows of both under common numbers; no chunk is in both."""
    chunk_ids, old_chunk, new_chunk = _union(old.chunk_ids, new.chunk_ids)
    document_ids, old_document, new_document = _union(old.document_ids, new.document_ids)
    entity_ids, old_entity, new_entity = _union(old.entity_ids, new.entity_ids)
    old, new = _renumber(old, chunk=old_chunk, entity=old_entity), _renumber(new, chunk=new_chunk, entity=new_entity)
    return Columns(
        chunk_ids=chunk_ids,
        view_ids=_place(len(chunk_ids), (old_chunk, old.view_ids), (new_chunk, new.view_ids)),
        document_ids=document_ids,
        document_of=_place(
            len(chunk_ids),
            (old_chunk, old_document[old.document_of]),
            (new_chunk, new_document[new.document_of]),
        ),
        position=_place(len(chunk_ids), (old_chunk, old.position), (new_chunk, new.position)),
        title_ids=_place(len(chunk_ids), (old_chunk, old.title_ids), (new_chunk, new.title_ids)),
        terms=merge_terms(len(chunk_ids), (old_chunk, old.terms), (new_chunk, new.terms)),
        entity_ids=entity_ids,
        names=merge_names(len(entity_ids), (old_entity, old.names), (new_entity, new.names)),
        mentions=np.concatenate([old.mentions, new.mentions]),
        facts=np.concatenate([old.facts, new.facts]),
        synonyms=np.concatenate([old.synonyms, new.synonyms]),
        scores=np.concatenate([old.scores, new.scores]),
    )


def _union(old: Ids, new: Ids) -> tuple[Ids, Ints, Ints]:
    """Returns the union of two sorted lists of ids, and the positions of each list's rows in it."""
    at = find_positions(old, new)
    fresh = at < 0
    places = np.searchsorted(old, new[fresh])
    new_at = places + np.arange(len(places))
    of_old = np.ones(len(old) + len(places), np.bool_)
    of_old[new_at] = False
    old_at = np.flatnonzero(of_old)
    merged = np.empty(len(of_old), np.result_type(old, new))
    merged[old_at], merged[new_at] = old, new[fresh]
    at[fresh], at[~fresh] = new_at, old_at[at[~fresh]]
    return merged, old_at.astype(np.int32), at.astype(np.int32)


def _place(size: int, *parts: tuple[Ints, NDArray[Any]]) -> NDArray[Any]:
    """Returns an array of `size` rows in which each part's values are at the given positions."""
    values = [values for _, values in parts]
    out = np.empty((size, *values[0].shape[1:]), np.result_type(*values))
    for at, part in parts:
        out[at] = part
    return out


@dataclass(frozen=True, kw_only=True)
class MergeMap:
    """The merges of a corpus. `ends` leads from each merged entity to the entity that it is after all merges.

    `names` are the normalised names of all entities that a merge names, merged or not.
    """

    merges: tuple[GraphMerge, ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.merges)

    def end_of(self, entity_id: str) -> str:
        """Returns the id of the entity that this entity is after all merges."""
        return self.ends.get(entity_id, entity_id)

    def members_of(self, entity_id: str) -> list[str]:
        """Returns the ids of the entities that are merged into this entity, directly or not, ascending."""
        return sorted(member for member, end in self.ends.items() if end == entity_id)

    def encode(self, entity_ids: Iterable[str]) -> Ids:
        """Returns the ids of the entities after all merges, as fixed-width bytes."""
        return encode_ids([self.end_of(id) for id in entity_ids])


def make_merge_map(merges: Sequence[GraphMerge]) -> MergeMap:
    into = {merge.from_id: merge.into_id for merge in merges}
    names = {id: name for merge in merges for id, name in ((merge.from_id, merge.from_name), merge[2:])}
    found: dict[str, str] = {}
    return MergeMap(merges=tuple(merges), ends={id: find_end(into, id, found) for id in into}, names=names)


def list_merges_among(merges: MergeMap, stated: Columns, documents: Collection[str]) -> tuple[GraphMerge, ...]:
    """Returns the merges whose two entities the documents name, each by a mention or a fact of its own."""
    if not merges:
        return ()
    at = _find(stated, merges.names)
    named = stated.named_by(stated.chunks_of(documents))
    known = {id for id, place in zip(merges.names, at.tolist(), strict=True) if place >= 0 and named[place]}
    return tuple(merge for merge in merges.merges if {merge.from_id, merge.into_id} <= known)


def apply_merges(columns: Columns, merges: MergeMap) -> Columns:
    """Returns the columns with merged entities replaced by the entities that they are merged into, which are added if
    the columns lack them. The given columns do not change.
    """
    if not merges:
        return columns
    members = [id for id, at in zip(merges.ends, _find(columns, merges.ends), strict=True) if at >= 0]
    ends = sorted({merges.ends[id] for id in members})
    columns = _add_entities(columns, {id: merges.names[id] for id in ends})
    to = np.arange(len(columns.entity_ids), dtype=np.int32)
    to[_find(columns, members)] = _find(columns, [merges.ends[id] for id in members])
    columns = _renumber(columns, entity=to)
    kept = columns.synonyms[:, 0] != columns.synonyms[:, 1]
    columns = replace(columns, synonyms=columns.synonyms[kept], scores=columns.scores[kept])
    return canonicalise(replace(columns, title_ids=_replace_titles(columns.title_ids, merges)))


def list_merged_names(columns: Columns, merges: MergeMap) -> list[tuple[int, str]]:
    """Returns the names of merged entities, each with the entity after all merges, whose number is in `columns`."""
    at = find_positions(columns.entity_ids, encode_ids(merges.ends.values()))
    return [(place, merges.names[id]) for place, id in zip(at.tolist(), merges.ends, strict=True) if place >= 0]


def _find(columns: Columns, ids: Iterable[str]) -> Places:
    return find_positions(columns.entity_ids, encode_ids(ids))


def _add_entities(columns: Columns, names: Mapping[str, str]) -> Columns:
    """Returns the columns with these entities, where they are missing."""
    missing = [id for id, at in zip(names, _find(columns, names), strict=True) if at < 0]
    if not missing:
        return columns
    ids = np.concatenate([columns.entity_ids, encode_ids(missing)])
    order = np.argsort(ids, kind="stable")
    place = np.empty(len(ids), np.int32)
    place[order] = np.arange(len(ids))
    old, new = place[: len(columns.entity_ids)], place[len(columns.entity_ids) :]
    shown = merge_names(len(ids), (old, columns.names), (new, pack_names(names[id] for id in missing)))
    return _renumber(replace(columns, entity_ids=ids[order], names=shown), entity=place)


def _replace_titles(title_ids: Ids, merges: MergeMap) -> Ids:
    """Returns the ids of names in titles, as ids of entities after all merges."""
    members = sorted(merges.ends)
    flat = title_ids.ravel().copy()
    at = find_positions(encode_ids(members), flat)
    merged = at >= 0
    flat[merged] = encode_ids([merges.ends[id] for id in members])[at[merged]]
    return flat.reshape(-1, 2)

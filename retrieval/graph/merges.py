"""Merges of entities, applied to columns: a merged entity's rows become those of the entity that it is merged into."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.ports.record import GraphMerge
from core.record_policy.merges import find_end
from retrieval.graph.column_building import canonicalise
from retrieval.graph.columns import Columns, Ids, encode_ids, renumber
from retrieval.graph.naming.names import merge_names, pack_names
from retrieval.graph.positions import Places, find_positions

__all__ = ["MergeMap", "apply_merges", "list_merged_names", "list_merges_among", "make_merge_map"]


@dataclass(frozen=True, kw_only=True)
class MergeMap:
    """The merges of a corpus. `ends` leads from each merged entity to the one that it is after all merges.

    `names` are the normalised names of all entities that a merge names, merged or not.
    """

    merges: tuple[GraphMerge, ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.merges)

    def end_of(self, entity_id: str) -> str:
        """Returns the id of the entity that this one is."""
        return self.ends.get(entity_id, entity_id)

    def members_of(self, entity_id: str) -> list[str]:
        """Returns the ids of the entities that are merged into this one, directly or not, ascending."""
        return sorted(member for member, end in self.ends.items() if end == entity_id)

    def encode(self, entity_ids: Iterable[str]) -> Ids:
        """Returns ids, each of the entity that it is, as fixed-width bytes."""
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
    """Returns the columns in which merged entities are one. An entity that only others merged into it stand for is
    there, too. These columns do not change.
    """
    if not merges:
        return columns
    members = [id for id, at in zip(merges.ends, _find(columns, merges.ends), strict=True) if at >= 0]
    ends = sorted({merges.ends[id] for id in members})
    columns = _add_entities(columns, {id: merges.names[id] for id in ends})
    to = np.arange(len(columns.entity_ids), dtype=np.int32)
    to[_find(columns, members)] = _find(columns, [merges.ends[id] for id in members])
    columns = renumber(columns, entity=to)
    kept = columns.synonyms[:, 0] != columns.synonyms[:, 1]
    columns = replace(columns, synonyms=columns.synonyms[kept], scores=columns.scores[kept])
    return canonicalise(replace(columns, title_ids=_replace_titles(columns.title_ids, merges)))


def list_merged_names(columns: Columns, merges: MergeMap) -> list[tuple[int, str]]:
    """Returns the names of merged entities with the entities that they are, in columns with these merges applied."""
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
    return renumber(replace(columns, entity_ids=ids[order], names=shown), entity=place)


def _replace_titles(title_ids: Ids, merges: MergeMap) -> Ids:
    """Returns the ids of names in titles, each of the entity that it is."""
    members = sorted(merges.ends)
    flat = title_ids.ravel().copy()
    at = find_positions(encode_ids(members), flat)
    merged = at >= 0
    flat[merged] = encode_ids([merges.ends[id] for id in members])[at[merged]]
    return flat.reshape(-1, 2)

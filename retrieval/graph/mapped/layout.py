"""A snapshot as arrays of a file, and back. Names are not in the file; they come from the record.

Raise `LAYOUT` with every change of what the arrays mean, also of how names are folded and rows are ordered.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphMerge
from core.ports.record.graph import EntityNames
from core.text.terms import TERM
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.chunk_terms import PACKED, ChunkTerms
from retrieval.graph.columns import Columns, Ids, encode_ids
from retrieval.graph.mapped.array_file import ArrayFile
from retrieval.graph.merges import MergeMap, list_merged_names, make_merge_map
from retrieval.graph.name_index import NameIndex
from retrieval.graph.positions import find_positions
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.graph.term_statistics import TermStatistics

__all__ = ["LAYOUT", "decode_snapshot", "encode_snapshot"]

LAYOUT = f"snapshot 1, {sys.byteorder} endian"

_Arrays = dict[str, NDArray[Any]]

_CHUNKS = ("chunk_ids", "view_ids", "document_ids", "document_of", "position")
_GRAPH = ("title_ids", "entity_ids", "mentions", "facts", "synonyms", "scores")
_MISSING = ""
"""The name of an entity that the record does not have any more. No entity has an empty name."""


def encode_snapshot(corpus_id: str, snapshot: GraphSnapshot) -> ArrayFile:
    """Returns what a file of the snapshot contains: ids, numbers, and hashes of stems and names."""
    columns, stated, graph, statistics = snapshot.columns, snapshot.stated, snapshot.whole, snapshot.statistics
    arrays: _Arrays = {name: getattr(stated, name) for name in _CHUNKS}
    arrays |= {f"stated {name}": getattr(stated, name) for name in _GRAPH}
    arrays |= {name: getattr(columns, name) for name in _GRAPH}
    arrays |= {"term_offsets": stated.terms.offsets, "terms": stated.terms.rows.view(PACKED)}
    arrays |= {"merges": _encode_merges(snapshot.merges.merges)}
    arrays |= {name: getattr(graph.adjacency, name) for name in ("indptr", "indices", "weights", "degree")}
    arrays |= {"entity_df": graph.df}
    arrays |= {name: getattr(statistics, name) for name in ("stems", "df", "capital", "lower")}
    arrays |= {f"name {name}": getattr(snapshot.names, name) for name in ("entity_of", "hashes", "order")}
    arrays |= {name: getattr(snapshot, name) for name in ("titles", "title_shares", "view_order")}
    numbers = {"chunks": statistics.chunks, "length": statistics.length}
    return ArrayFile(layout=LAYOUT, corpus_id=corpus_id, generation=snapshot.generation, numbers=numbers, arrays=arrays)


def decode_snapshot(content: ArrayFile, names: EntityNames, changes: GraphChanges) -> GraphSnapshot | None:
    """Returns the snapshot of a file after `changes`, which are those since its generation.

    `names` were read before the changes. Returns None if an entity of the snapshot has no name: a commit came between,
    or the file is not of this record.
    """
    snapshot = _decode(content, names, changes.added.merges)
    if snapshot is None:
        return None
    snapshot = snapshot.apply(changes)
    tables = {id(columns.names): columns.names for columns in (snapshot.stated, snapshot.columns)}
    return None if any(_MISSING in table.tolist() for table in tables.values()) else snapshot


def _decode(content: ArrayFile, names: EntityNames, present: tuple[GraphMerge, ...]) -> GraphSnapshot | None:
    """Returns the snapshot of the file's generation. `present` are the merges of now.

    If the file has others, they have no names, and differ from those of now.
    """
    arrays = dict(content.arrays)
    if np.array_equal(arrays["merges"], _encode_merges(present)):
        merges = make_merge_map(present)
    else:
        pairs = arrays["merges"].astype(np.str_).tolist()
        merges = make_merge_map([GraphMerge(from_id, _MISSING, into_id, _MISSING) for from_id, into_id in pairs])
    stated = columns = _columns(arrays, "stated ", _find_names(arrays["stated entity_ids"], names))
    if merges:
        columns = _columns(arrays, "", _find_names(arrays["entity_ids"], names, merges))
    index = _name_index(arrays, columns, merges)
    if index is None:
        return None
    adjacency = Adjacency(**{name: arrays[name] for name in ("indptr", "indices", "weights", "degree")})
    statistics = {name: arrays[name] for name in ("stems", "df", "capital", "lower")}
    numbers = content.numbers
    return GraphSnapshot(
        generation=content.generation,
        columns=columns,
        stated=stated,
        merges=merges,
        names=index,
        whole=RetrievalGraph(chunks=len(columns.chunk_ids), adjacency=adjacency, df=arrays["entity_df"]),
        statistics=TermStatistics(**statistics, chunks=numbers["chunks"], length=numbers["length"]),
        titles=arrays["titles"],
        title_shares=arrays["title_shares"],
        view_order=arrays["view_order"],
    )


def _encode_merges(merges: tuple[GraphMerge, ...]) -> Ids:
    return encode_ids(id for merge in merges for id in (merge.from_id, merge.into_id)).reshape(-1, 2)


def _columns(arrays: _Arrays, prefix: str, names: NDArray[np.object_]) -> Columns:
    terms = ChunkTerms(offsets=arrays["term_offsets"], rows=arrays["terms"].view(TERM))
    chunks = {name: arrays[name] for name in _CHUNKS}
    graph = {name: arrays[prefix + name] for name in _GRAPH}
    return Columns(**chunks, **graph, terms=terms, names=names)


def _find_names(entity_ids: Ids, names: EntityNames, merges: MergeMap | None = None) -> NDArray[np.object_]:
    """Returns the name of each entity: from the record, or else from a merge."""
    if np.array_equal(entity_ids, names.ids):
        return names.names
    at = find_positions(names.ids, entity_ids)
    found = np.append(names.names, np.array([_MISSING], np.object_))[at]
    if merges is not None:
        for place in np.flatnonzero(at < 0).tolist():
            found[place] = merges.names.get(entity_ids[place].decode(), _MISSING)
    return found


def _name_index(arrays: _Arrays, columns: Columns, merges: MergeMap) -> NameIndex | None:
    others = [name for _, name in list_merged_names(columns, merges)]
    names = columns.names
    if others:
        added = np.empty(len(others), np.object_)
        added[:] = others
        names = np.concatenate([names, added])
    if len(names) != len(arrays["name hashes"]):
        return None
    return NameIndex(
        names=names, entity_of=arrays["name entity_of"], hashes=arrays["name hashes"], order=arrays["name order"]
    )

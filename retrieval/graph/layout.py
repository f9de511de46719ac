"""A snapshot as arrays of a file, and back.

Raise `LAYOUT` with every change of what the arrays mean, also of how names are folded and rows are ordered.
"""

import sys
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphMerge
from core.text.terms import TERM
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.array_file import ArrayFile, UnreadableFile
from retrieval.graph.columns import Columns, encode_ids, make_merge_map
from retrieval.graph.flat import FlatSnapshot, Lookups
from retrieval.graph.names import NameIndex, Names, pack_names
from retrieval.graph.snapshot import RetrievalGraph
from retrieval.graph.terms import PACKED, ChunkTerms, TermStatistics

__all__ = ["LAYOUT", "decode_snapshot", "encode_snapshot"]


LAYOUT = f"snapshot 2, {sys.byteorder} endian"

_Arrays = dict[str, NDArray[Any]]

_CHUNKS = ("chunk_ids", "view_ids", "document_ids", "document_of", "position")
_GRAPH = ("title_ids", "entity_ids", "mentions", "facts", "synonyms", "scores")
_LOOKUPS = tuple(field.name for field in fields(Lookups))


def encode_snapshot(corpus_id: str, snapshot: FlatSnapshot) -> ArrayFile:
    """Returns what a file of the snapshot contains: ids, names, numbers, and hashes of stems and names."""
    columns, stated, graph, statistics = snapshot.columns, snapshot.stated, snapshot.whole, snapshot.statistics
    merges, index = snapshot.merges.merges, snapshot.names
    arrays: _Arrays = {name: getattr(stated, name) for name in _CHUNKS}
    arrays |= {f"stated {name}": getattr(stated, name) for name in _GRAPH}
    arrays |= {name: getattr(columns, name) for name in _GRAPH}
    arrays |= {"term_offsets": stated.terms.offsets, "terms": stated.terms.rows.view(PACKED)}
    arrays |= {"merges": encode_ids(id for merge in merges for id in (merge.from_id, merge.into_id))}
    arrays |= _encode_names("merge", pack_names(n for merge in merges for n in (merge.from_name, merge.into_name)))
    arrays |= _encode_names("stated", stated.names) | _encode_names("columns", columns.names)
    arrays |= _encode_names("index", index.names)
    arrays |= {name: getattr(graph.adjacency, name) for name in ("indptr", "indices", "weights", "degree")}
    arrays |= {"entity_df": np.asarray(graph.df)}
    arrays |= {name: getattr(statistics, name) for name in ("stems", "df", "capital", "lower")}
    arrays |= {f"name {name}": getattr(index, name) for name in ("entity_of", "hashes", "order")}
    arrays |= {name: getattr(snapshot, name) for name in ("titles", "title_shares", "view_order")}
    arrays |= {name: getattr(snapshot.lookups, name) for name in _LOOKUPS}
    numbers = {"chunks": statistics.chunks, "length": statistics.length, "places": graph.chunks}
    return ArrayFile(layout=LAYOUT, corpus_id=corpus_id, generation=snapshot.generation, numbers=numbers, arrays=arrays)


def decode_snapshot(content: ArrayFile) -> FlatSnapshot:
    """Returns the snapshot of a file, of the file's generation.

    It checks the merges, and the arrays of indices into other arrays, since compiled code does not check its indices.
    Raises `UnreadableFile` if they do not fit together.
    """
    try:
        _check_arrays(content)
        return _decode(content)
    except UnreadableFile:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UnreadableFile(f"is damaged ({error!r})") from error


def _check_arrays(content: ArrayFile) -> None:
    arrays, places = content.arrays, content.numbers["places"]
    indptr, indices, degree = arrays["indptr"], arrays["indices"], arrays["degree"]
    _check_offsets(indptr, len(indices))
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < len(degree):
        raise UnreadableFile("is damaged: an edge leads nowhere")
    sizes = {
        "weights": len(indices),
        "degree": len(indptr) - 1,
        "entity_df": len(degree) - places,
        "title_shares": len(degree) - places,
    }
    for name, size in sizes.items():
        if arrays[name].shape != (size,):
            raise UnreadableFile(f"is damaged: the array {name!r} does not fit to the others")
    _check_offsets(arrays["term_offsets"], len(arrays["terms"]))
    _check_offsets(arrays["fact_offsets"], len(arrays["facts"]))
    for what in ("merge", "stated", "columns", "index"):
        _check_offsets(arrays[f"{what} name_offsets"], len(arrays[f"{what} name_text"]))


def _check_offsets(offsets: NDArray[Any], size: int) -> None:
    """Raises `UnreadableFile` unless the offsets ascend from 0 to `size`."""
    if offsets[0] != 0 or offsets[-1] != size or bool((offsets[1:] < offsets[:-1]).any()):
        raise UnreadableFile("is damaged: offsets do not ascend")


def _decode(content: ArrayFile) -> FlatSnapshot:
    arrays, numbers = dict(content.arrays), content.numbers
    ids = arrays["merges"].astype(np.str_).tolist()
    names = list(_decode_names(arrays, "merge"))
    merges = make_merge_map(
        [GraphMerge(*one) for one in zip(ids[::2], names[::2], ids[1::2], names[1::2], strict=True)]
    )
    stated = columns = _columns(arrays, "stated ", _decode_names(arrays, "stated"))
    if merges:
        columns = _columns(arrays, "", _decode_names(arrays, "columns"))
    index: dict[str, Any] = {name: arrays[f"name {name}"] for name in ("entity_of", "hashes", "order")}
    edges: dict[str, Any] = {name: arrays[name] for name in ("indptr", "indices", "weights", "degree")}
    statistics: dict[str, Any] = {name: arrays[name] for name in ("stems", "df", "capital", "lower")}
    return FlatSnapshot(
        generation=content.generation,
        columns=columns,
        stated=stated,
        merges=merges,
        names=NameIndex(names=_decode_names(arrays, "index"), **index),
        whole=RetrievalGraph(
            chunks=numbers["places"],
            passages=len(columns.chunk_ids),
            adjacency=Adjacency(**edges),
            df=arrays["entity_df"],
        ),
        statistics=TermStatistics(**statistics, chunks=numbers["chunks"], length=numbers["length"]),
        titles=arrays["titles"],
        title_shares=arrays["title_shares"],
        view_order=arrays["view_order"],
        lookups=Lookups(**{name: arrays[name] for name in _LOOKUPS}),
    )


def _encode_names(what: str, names: Names) -> _Arrays:
    return {f"{what} name_offsets": names.offsets, f"{what} name_text": names.text}


def _decode_names(arrays: _Arrays, what: str) -> Names:
    return Names(offsets=arrays[f"{what} name_offsets"], text=arrays[f"{what} name_text"])


def _columns(arrays: _Arrays, prefix: str, names: Names) -> Columns:
    terms = ChunkTerms(offsets=arrays["term_offsets"], rows=arrays["terms"].view(TERM))
    chunks = {name: arrays[name] for name in _CHUNKS}
    graph = {name: arrays[prefix + name] for name in _GRAPH}
    return Columns(**chunks, **graph, terms=terms, names=names)

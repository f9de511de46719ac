"""The format of a snapshot's file: arrays that are mapped into memory, how they are written and checked, and what they
mean.

The file of arrays (`core/execution/array_files.py`) comes first; the snapshot as arrays, and back, comes last.
"""

import json
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.execution.array_files import (
    MAGIC,
    OutdatedFile,
    Place,
    UnreadableFile,
    align,
    bytes_of,
    check_places,
    compare_checksum,
    count_bytes,
    encode_start,
    map_array,
    read_header,
)
from core.execution.files import FileMapping
from core.ports.record import GraphMerge
from core.text.terms import TERM
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.columns import Columns, encode_ids, make_merge_map
from retrieval.graph.names import NameIndex, Names, pack_names
from retrieval.graph.snapshot import FlatSnapshot, Lookups, RetrievalGraph
from retrieval.graph.terms import PACKED, ChunkTerms, TermStatistics

_PREFIX = MAGIC + struct.pack("<I", 1)
"""Files of snapshots have a version of their own after the magic bytes."""
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 20
_GREATEST_CHECKSUM = 0xFFFFFFFF
_SMALL = 64 << 20
"""Files of up to so many bytes are compared with their checksums when they are opened, in 30 ms."""

_HEADER_TYPES: dict[str, type] = {
    "layout": str,
    "corpus": str,
    "generation": int,
    "numbers": dict,
    "arrays": dict,
    "bytes": int,
}


@dataclass(frozen=True, eq=False)
class StreamedArray:
    """An array of a file that a `Stream` makes while it is written."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return count_bytes(self.dtype, self.shape)


@dataclass(frozen=True)
class Stream:
    """Makes arrays at the same time. `blocks` yields the next rows of each of them, and is read once."""

    arrays: tuple[NDArray[Any] | StreamedArray, ...]
    blocks: Callable[[], Iterable[tuple[NDArray[Any], ...]]]


@dataclass(frozen=True, kw_only=True)
class FileContent:
    """What is written to a file. An array object that occurs several times is stored once.

    `layout` names what the arrays mean. A file of another layout is not read. Each `StreamedArray` is in one stream.
    """

    layout: str
    corpus_id: str
    generation: int
    numbers: Mapping[str, int]
    arrays: Mapping[str, NDArray[Any] | StreamedArray]
    streams: Sequence[Stream] = ()


@dataclass(frozen=True, kw_only=True)
class ArrayFile(FileContent):
    """The content of a file with all of its arrays. An array object that was stored once is read as one object."""

    arrays: Mapping[str, NDArray[Any]]


def write_array_file(file: BinaryIO, content: FileContent) -> None:
    """Writes the content at the beginning of an empty file.

    Arrays go to the file one by one, or block by block, and the header, which has their checksums, at the end. Raises
    `ValueError` if a stream does not make its arrays whole.
    """
    arrays = {id(array): array for array in content.arrays.values()}
    starts, end = {}, 0
    for key, array in arrays.items():
        starts[key] = end
        end = align(end + array.nbytes, _ALIGNMENT)
    longest = len(_encode_header(content, starts, dict.fromkeys(arrays, _GREATEST_CHECKSUM), end))
    first = align(len(encode_start(_PREFIX, b"")) + longest, _ALIGNMENT)
    file.truncate(first + end)
    checksums: dict[int, int] = {}
    streams = [Stream((array,), partial(_whole, array)) for array in arrays.values() if isinstance(array, np.ndarray)]
    for stream in (*streams, *content.streams):
        checksums |= _write_stream(file, stream, [first + starts[id(array)] for array in stream.arrays])
    encoded = _encode_header(content, starts, checksums, end).ljust(longest)
    file.seek(0)
    file.write(encode_start(_PREFIX, encoded))


def _whole(array: NDArray[Any]) -> list[tuple[NDArray[Any]]]:
    return [(array,)]


def _encode_header(content: FileContent, starts: dict[int, int], checksums: dict[int, int], size: int) -> bytes:
    places = {
        name: Place(array.dtype.str, array.shape, starts[id(array)], checksums[id(array)])
        for name, array in content.arrays.items()
    }
    header = {
        "layout": content.layout,
        "corpus": content.corpus_id,
        "generation": content.generation,
        "numbers": content.numbers,
        "arrays": places,
        "bytes": size,
    }
    return json.dumps(header).encode()


def _write_stream(file: BinaryIO, stream: Stream, starts: list[int]) -> dict[int, int]:
    """Writes the arrays of a stream from these places on, and returns their checksums."""
    at, checksums = list(starts), [0] * len(starts)
    for blocks in stream.blocks():
        for number, (array, block) in enumerate(zip(stream.arrays, blocks, strict=True)):
            part = bytes_of(block.astype(array.dtype, copy=False))
            if file.tell() != at[number]:
                file.seek(at[number])
            file.write(part)
            checksums[number] = zlib.crc32(part, checksums[number])
            at[number] += part.nbytes
    for array, start, end in zip(stream.arrays, starts, at, strict=True):
        if end - start != array.nbytes:
            raise ValueError(f"a stream made {end - start} bytes of an array of {array.nbytes}")
    return {id(array): checksum for array, checksum in zip(stream.arrays, checksums, strict=True)}


def read_array_file(path: Path, layout: str, corpus_id: str, *, check: bool = False) -> ArrayFile:
    """Returns the content of a file, with arrays that are mapped and cannot be written to.

    The checksum of the header and all places are compared, and in a small file or with `check` the checksums of the
    arrays, for which the whole file is read. Raises `UnreadableFile`, also for a file of another layout or corpus, and
    `OSError`.
    """
    with path.open("rb") as file:
        header, start = _read_header(file.fileno())
        if header["layout"] != layout:
            raise OutdatedFile("is of another version")
        if header["corpus"] != corpus_id:
            raise UnreadableFile("is of another corpus")
        mapping = FileMapping(file.fileno())
        if len(mapping) != start + header["bytes"]:
            raise UnreadableFile("is truncated")
        try:
            places = {name: _read_place(place, start) for name, place in header["arrays"].items()}
            distinct = set(places.values())
            check_places(distinct, start, len(mapping))
            if check or len(mapping) <= _SMALL:
                for place in sorted(distinct, key=lambda place: place.start):
                    compare_checksum(file.fileno(), place)
            arrays = {place: map_array(mapping, place) for place in distinct}
        except UnreadableFile:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(f"is damaged ({error})") from error
    return ArrayFile(
        layout=layout,
        corpus_id=corpus_id,
        generation=header["generation"],
        numbers=header["numbers"],
        arrays={name: arrays[place] for name, place in places.items()},
    )


def read_generation(path: Path, layout: str, corpus_id: str) -> int | None:
    """Returns the generation of a file by its header alone; None for a file of another layout or corpus.

    Raises `UnreadableFile` and `OSError`.
    """
    with path.open("rb") as file:
        header, _ = _read_header(file.fileno())
    generation: int = header["generation"]
    return generation if (header["layout"], header["corpus"]) == (layout, corpus_id) else None


def find_mapping(array: NDArray[Any]) -> FileMapping | None:
    """Returns the mapping of the file that an array lies in; None if it is in the memory of this process alone."""
    owner: object = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, FileMapping) else None


def is_mapped(array: NDArray[Any]) -> bool:
    return find_mapping(array) is not None


def _read_header(file: int) -> tuple[dict[str, Any], int]:
    """Returns the header, and the place of the first array."""
    header, end = read_header(file, _PREFIX, longest=_LONGEST_HEADER)
    if any(type(header.get(name)) is not kind for name, kind in _HEADER_TYPES.items()):
        raise UnreadableFile("has a damaged header")
    return header, align(end, _ALIGNMENT)


def _read_place(place: list[Any], first: int) -> Place:
    """The header counts the places of arrays from the first array on."""
    type, shape, start, checksum = place
    return Place(type, tuple(shape), first + start, checksum)


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
        [GraphMerge(*pair) for pair in zip(ids[::2], names[::2], ids[1::2], names[1::2], strict=True)]
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

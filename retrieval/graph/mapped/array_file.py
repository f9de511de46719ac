"""Arrays in a file that is mapped into memory: its format, and how it is written and checked.

The file begins with `_START`, then comes the header as JSON, then the arrays, each at a multiple of 64 bytes. The
header names each array with its type, shape, place and checksum, and has a checksum itself.
"""

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayFile", "UnreadableFile", "is_mapped", "read_array_file", "read_generation", "write_array_file"]

_MAGIC = b"hopweave"
_FORMAT = 1
_START = struct.Struct("<8sIII")
"""Magic, version of the format, length of the header, checksum of the header."""
_ALIGNMENT = 64
_BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 20
_KINDS = frozenset("Siufb")
"""The kinds of types that an array may have: bytes, numbers and truth values. None of them holds Python objects."""


class UnreadableFile(ValueError):
    """A file cannot be used. The message says why, as the end of a sentence that names the file."""


@dataclass(frozen=True, kw_only=True)
class ArrayFile:
    """The content of a file. Arrays that are one object are stored once, and are one object when they are read.

    `layout` names what the arrays mean. A file of another layout is not read.
    """

    layout: str
    corpus_id: str
    generation: int
    numbers: Mapping[str, int]
    arrays: Mapping[str, NDArray[Any]]


class _Place(NamedTuple):
    """An array in the file: its type, its shape, its first byte after the header, and its checksum."""

    type: str
    shape: tuple[int, ...]
    start: int
    checksum: int


def write_array_file(file: BinaryIO, content: ArrayFile) -> None:
    """Writes the content at the beginning of an empty file."""
    places: dict[int, _Place] = {}
    parts: list[memoryview] = []
    end = 0
    for array in content.arrays.values():
        if id(array) not in places:
            part = _bytes_of(array)
            places[id(array)] = _Place(array.dtype.str, array.shape, end, zlib.crc32(part))
            parts.append(part)
            end = _align(end + part.nbytes)
    header = {
        "layout": content.layout,
        "corpus": content.corpus_id,
        "generation": content.generation,
        "numbers": content.numbers,
        "arrays": {name: places[id(array)] for name, array in content.arrays.items()},
        "bytes": end,
    }
    encoded = json.dumps(header).encode()
    file.write(_START.pack(_MAGIC, _FORMAT, len(encoded), zlib.crc32(encoded)) + encoded)
    _pad(file, _START.size + len(encoded))
    for part in parts:
        file.write(part)
        _pad(file, part.nbytes)


def read_array_file(path: Path, layout: str, corpus_id: str, *, check: bool = False) -> ArrayFile:
    """Returns the content of a file, with arrays that are mapped and cannot be written to.

    The checksum of the header and all places are compared, and with `check` the checksums of the arrays, for which the
    whole file is read. Raises `UnreadableFile`, also for a file of another layout or corpus, and `OSError`.
    """
    with path.open("rb") as file:
        header, start = _read_header(file)
        if header["layout"] != layout:
            raise UnreadableFile("is of another version")
        if header["corpus"] != corpus_id:
            raise UnreadableFile("is of another corpus")
        if os.fstat(file.fileno()).st_size != start + header["bytes"]:
            raise UnreadableFile("is truncated")
        try:
            places = {name: _read_place(place) for name, place in header["arrays"].items()}
            distinct = set(places.values())
            _check_places(header["bytes"], distinct)
            if check:
                _compare_checksums(file, start, distinct)
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            arrays = {place: _map(mapping, start, place) for place in distinct}
        except UnreadableFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(f"is damaged ({error})") from error
    return ArrayFile(
        layout=layout,
        corpus_id=corpus_id,
        generation=int(header["generation"]),
        numbers=header["numbers"],
        arrays={name: arrays[place] for name, place in places.items()},
    )


def read_generation(path: Path, layout: str, corpus_id: str) -> int | None:
    """Returns the generation of a file by its header alone; None for a file of another layout or corpus.

    Raises `UnreadableFile` and `OSError`.
    """
    with path.open("rb") as file:
        header, _ = _read_header(file)
    return int(header["generation"]) if (header["layout"], header["corpus"]) == (layout, corpus_id) else None


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array lies in a mapped file, and not in the memory of this process alone."""
    owner: object = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


def _read_header(file: BufferedReader) -> tuple[dict[str, Any], int]:
    """Returns the header, and the place of the first array."""
    beginning = file.read(_START.size)
    if len(beginning) < _START.size:
        raise UnreadableFile("is truncated")
    magic, version, length, checksum = _START.unpack(beginning)
    if magic != _MAGIC:
        raise UnreadableFile("is not a file of Hopweave")
    if version != _FORMAT:
        raise UnreadableFile("is of another version")
    encoded = file.read(min(length, _LONGEST_HEADER))
    if len(encoded) != length or zlib.crc32(encoded) != checksum:
        raise UnreadableFile("has a damaged header")
    header: dict[str, Any] = json.loads(encoded)
    return header, _align(_START.size + length)


def _read_place(place: list[Any]) -> _Place:
    type, shape, start, checksum = place
    return _Place(type, tuple(shape), start, checksum)


def _check_places(size: int, places: set[_Place]) -> None:
    if any(place.start < 0 or place.start + _size_of(place) > size for place in places):
        raise UnreadableFile("is damaged: an array ends beyond the file")


def _compare_checksums(file: BufferedReader, start: int, places: set[_Place]) -> None:
    """Reads the arrays once. It does not use the mapping, whose pages would count as memory of this process."""
    buffer = memoryview(bytearray(_BLOCK))
    for place in sorted(places, key=lambda one: one.start):
        left = _size_of(place)
        file.seek(start + place.start)
        checksum = 0
        while left and (count := file.readinto(buffer[: min(left, _BLOCK)])):
            checksum = zlib.crc32(buffer[:count], checksum)
            left -= count
        if left or checksum != place.checksum:
            raise UnreadableFile("is damaged: a checksum differs")


def _size_of(place: _Place) -> int:
    type = np.dtype(place.type)
    if type.kind not in _KINDS:
        raise UnreadableFile(f"has an array of the unknown type {place.type}")
    return int(np.prod(place.shape, dtype=np.int64)) * type.itemsize


def _map(mapping: mmap.mmap, start: int, place: _Place) -> NDArray[Any]:
    type = np.dtype(place.type)
    count = int(np.prod(place.shape, dtype=np.int64))
    if not count:
        return np.empty(place.shape, type)
    return np.frombuffer(mapping, type, count, start + place.start).reshape(place.shape)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _pad(file: BinaryIO, size: int) -> None:
    file.write(b"\0" * (_align(size) - size))

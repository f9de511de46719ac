"""Files of arrays that are mapped into memory: the format that vectors and snapshots of the graph share.

A file begins with a prefix that names what wrote it, the length of the header and its checksum, and the header as JSON.
The arrays follow, each at a place that the header names. `UnreadableFile` and its messages are the same for all files.

The owners decide the rest: what the header says, where arrays begin, and which checksums are compared at opening.
"""

import json
import math
import os
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.execution.files import FileMapping

MAGIC = b"hopweave"
"""The first bytes of every prefix."""

_LENGTHS = struct.Struct("<II")
"""The length of the header, and its checksum. They follow the prefix."""
_BLOCK = 1 << 20
_KINDS = frozenset("Siufb")
"""The kinds of types that an array may have: bytes, numbers and truth values. None of them holds Python objects."""


class UnreadableFile(ValueError):
    """A file cannot be used. The message says why, as the end of a sentence that names the file."""


class OutdatedFile(UnreadableFile):
    """A file of another version, which is replaced without a warning."""


class Place(NamedTuple):
    """An array in a file: its type, its shape, its first byte, and its checksum."""

    type: str
    shape: tuple[int, ...]
    start: int
    checksum: int

    @property
    def size(self) -> int:
        """The bytes of the array. Raises `UnreadableFile` for a type that no array may have."""
        type = np.dtype(self.type)
        if type.kind not in _KINDS:
            raise UnreadableFile(f"has an array of the unknown type {self.type}")
        return count_bytes(type, self.shape)


def encode_start(prefix: bytes, header: bytes) -> bytes:
    """Returns the beginning of a file, up to the end of its header."""
    return prefix + _LENGTHS.pack(len(header), zlib.crc32(header)) + header


def read_header(file: int, prefix: bytes, *, longest: int) -> tuple[dict[str, Any], int]:
    """Returns the header of an open file, and where it ends. It has at most `longest` bytes.

    Raises `UnreadableFile`, and `OutdatedFile` for a file that begins with `MAGIC` and not with `prefix`.
    """
    first = len(prefix) + _LENGTHS.size
    beginning = os.pread(file, first, 0)
    if len(beginning) < first:
        raise UnreadableFile("is truncated")
    if not beginning.startswith(MAGIC):
        raise UnreadableFile("is not a file of Hopweave, or was not finished")
    if not beginning.startswith(prefix):
        raise OutdatedFile("is of another version")
    length, checksum = _LENGTHS.unpack_from(beginning, len(prefix))
    encoded = os.pread(file, min(length, longest), first)
    if len(encoded) != length or zlib.crc32(encoded) != checksum:
        raise UnreadableFile("has a damaged header")
    try:
        header = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile("has a damaged header") from error
    if not isinstance(header, dict):
        raise UnreadableFile("has a damaged header")
    return header, first + length


def check_places(places: set[Place], first: int, end: int) -> None:
    """Raises `UnreadableFile` if an array is not between the bytes `first` and `end`, or has an unknown type."""
    if any(
        place.start < first or min(place.shape, default=0) < 0 or place.start + place.size > end for place in places
    ):
        raise UnreadableFile("is damaged: an array ends beyond the file")


def compare_checksum(file: int, place: Place) -> None:
    """Raises `UnreadableFile` if the array has another checksum.

    Reads it by calls and not through the mapping, whose pages would count as memory of this process.
    """
    buffer = memoryview(bytearray(_BLOCK))
    start, left, checksum = place.start, place.size, 0
    while left and (count := os.preadv(file, [buffer[: min(left, _BLOCK)]], start)):
        checksum = zlib.crc32(buffer[:count], checksum)
        start, left = start + count, left - count
    if left or checksum != place.checksum:
        raise UnreadableFile("is damaged: a checksum differs")


def map_array(mapping: FileMapping, place: Place) -> NDArray[Any]:
    """Returns the array, which cannot be written to."""
    count = math.prod(place.shape)
    if not count:
        return np.empty(place.shape, place.type)
    return np.frombuffer(mapping, place.type, count, place.start).reshape(place.shape)


def count_bytes(type: np.dtype[Any], shape: tuple[int, ...]) -> int:
    return math.prod(shape) * type.itemsize


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Returns the bytes of an array as they are written."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def align(size: int, to: int) -> int:
    """Returns the least multiple of `to` that is not less than `size`."""
    return -(-size // to) * to

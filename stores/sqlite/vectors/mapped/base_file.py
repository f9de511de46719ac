"""The file of a base: vectors of one collection, ordered by place. Open it when the format or its checks change.

It is a file of arrays (`core/execution/array_files.py`), each at a multiple of 4096 bytes. Raise `_FORMAT` with every
change of what a file contains. The number of rows is known before the first is written, so rows
are written some thousand at a time, and the writer holds no more than these.
"""

import errno
import json
import os
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.execution import array_files
from core.execution.array_files import (
    MAGIC,
    Place,
    UnreadableFile,
    align,
    bytes_of,
    check_places,
    compare_checksum,
    count_bytes,
    encode_start,
    map_array,
)
from core.execution.files import FileMapping

_FORMAT = f"vectors 1, {sys.byteorder} endian"
_ALIGNMENT = 4096
_HEADER_ROOM = 1 << 14
_ROOM = 1.1
"""How many times its size a file needs on the disk."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file says of itself: the collection, and the change of the collection that the file shows."""

    corpus_id: str
    kind: str
    collection: int
    change: int
    last_place: int
    """The greatest place that a row of the collection had, or an earlier place. Later rows are not in the file."""
    rows: int
    dimension: int


@dataclass(frozen=True, kw_only=True)
class ArrayForm:
    """The type and shape of an array. Only arrays that are `checked` are read when a file is opened."""

    type: str
    shape: tuple[int, ...]
    checked: bool = True

    @property
    def size(self) -> int:
        return count_bytes(np.dtype(self.type), self.shape)


class BaseWriter:
    """Writes a file: `add` announces an array, `write` writes its parts in their order, `finish` the header."""

    def __init__(self, path: Path) -> None:
        """Creates the file, readable for the user alone. Raises `OSError`."""
        self._forms: dict[str, ArrayForm] = {}
        self._starts: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._checksums: dict[str, int] = {}
        self._end = _HEADER_ROOM
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def add(self, name: str, form: ArrayForm) -> None:
        self._forms[name], self._starts[name] = form, self._end
        self._written[name] = self._checksums[name] = 0
        self._end += align(form.size, _ALIGNMENT)

    def check_room(self, more: int) -> None:
        """Raises `OSError` if the disk has no or little room for the announced arrays and `more` bytes.

        If the disk were full, the writes of others would fail as well.
        """
        state = os.fstatvfs(self._file)
        if (self._end + more) * _ROOM > state.f_bavail * state.f_frsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(self, name: str, array: NDArray[Any]) -> None:
        """Writes the next part of an array. Raises `OSError`."""
        part = bytes_of(array)
        start, done = self._starts[name] + self._written[name], 0
        while done < part.nbytes:
            done += os.pwrite(self._file, part[done:], start + done)
        self._written[name] += part.nbytes
        if self._forms[name].checked:
            self._checksums[name] = zlib.crc32(part, self._checksums[name])

    def finish(self, header: Header) -> None:
        """Writes the header, and waits until the file is on the disk. Raises `OSError`."""
        wrong = [name for name, form in self._forms.items() if self._written[name] != form.size]
        if wrong:
            raise ValueError(f"the arrays {', '.join(wrong)} are not of the size that was announced")
        arrays = {
            name: {**asdict(form), "start": self._starts[name], "checksum": self._checksums[name]}
            for name, form in self._forms.items()
        }
        encoded = json.dumps({"format": _FORMAT, "size": self._end, "arrays": arrays, **asdict(header)}).encode()
        os.ftruncate(self._file, self._end)
        os.pwrite(self._file, encode_start(MAGIC, encoded), 0)
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def read_header(path: Path) -> Header:
    """Returns the header of a file. Raises `UnreadableFile` and `OSError`."""
    with path.open("rb") as file:
        return _header_of(_read_fields(file.fileno()))


def open_arrays(path: Path) -> tuple[Header, FileMapping, dict[str, NDArray[Any]]]:
    """Returns the header, the mapping and its arrays, which cannot be written to.

    Compares the checksums of arrays that have them. Raises `UnreadableFile` and `OSError`.
    """
    with path.open("rb") as file:
        fields = _read_fields(file.fileno())
        mapping = FileMapping(file.fileno())
        if len(mapping) != fields.get("size"):
            raise UnreadableFile("is truncated")
        try:
            arrays = {name: _open_array(file.fileno(), mapping, array) for name, array in fields["arrays"].items()}
        except UnreadableFile:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(f"is damaged ({error})") from error
    return _header_of(fields), mapping, arrays


def _read_fields(file: int) -> dict[str, Any]:
    fields, _ = array_files.read_header(file, MAGIC, longest=_HEADER_ROOM)
    if fields.get("format") != _FORMAT:
        raise UnreadableFile("is of another version")
    return fields


def _header_of(fields: dict[str, Any]) -> Header:
    known = {name: fields.get(name) for name in Header.__dataclass_fields__}
    texts = {"corpus_id", "kind"}
    if any(not isinstance(value, str if name in texts else int) for name, value in known.items()):
        raise UnreadableFile("has a damaged header")
    return Header(**known)  # type: ignore[arg-type] # checked above


def _open_array(file: int, mapping: FileMapping, fields: dict[str, Any]) -> NDArray[Any]:
    place = Place(fields["type"], tuple(fields["shape"]), fields["start"], fields["checksum"])
    check_places({place}, 0, len(mapping))
    if fields["checked"]:
        compare_checksum(file, place)
    return map_array(mapping, place)

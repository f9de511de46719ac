"""Compound files (OLE2, [MS-CFB]), in which old Office programs keep their streams: opened with bounds."""

import io
import struct
from datetime import datetime
from typing import Any

from core.errors import LoadFailed
from indexer.loading.properties import make_metadata

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STORAGE = 1
_PROPERTIES = {
    "author": "author",
    "created": "create_time",
    "modified": "last_saved_time",
    "subject": "subject",
    "keywords": "keywords",
}


class CompoundFile:
    """The streams of a file, by their paths. All that is read is bounded by the size of the file, as streams that name
    the same sectors could state any size.
    """

    def __init__(self, content: bytes, key: str, kind: str) -> None:
        """Raises `LoadFailed` if the content is empty, damaged, or no compound file of the kind `kind`."""
        import olefile

        if not content:
            raise LoadFailed(f"{key!r} is empty: it has no bytes")
        if not content.startswith(MAGIC):
            raise LoadFailed(f"{key!r} is no {kind} file: it does not begin as one does; it may be of another kind")
        self._key = key
        self._left = 2 * len(content)
        self._errors = (OSError, ValueError, IndexError, struct.error, TypeError, RecursionError)
        self._entries: dict[tuple[str, ...], Any] = {}
        self._storages: dict[tuple[str, ...], list[str]] = {}
        try:
            self._file: Any = olefile.OleFileIO(io.BytesIO(content))
            self._list(self._file.root)
        except self._errors as error:
            raise self._damaged(error) from error

    def _list(self, root: Any) -> None:
        """Lists the streams and storages by their paths, in small letters. `olefile` looks through all for each."""
        waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
        seen = {root.sid}  # a storage of a damaged file may be in itself
        while waiting:
            path, storage = waiting.pop()
            for entry in storage.kids:
                if entry.sid in seen:
                    continue
                seen.add(entry.sid)
                own = (*path, entry.name.lower())
                if entry.kids or entry.entry_type == _STORAGE:
                    self._storages.setdefault(path, []).append(own[-1])
                    waiting.append((own, entry))
                else:
                    self._entries[own] = entry

    def has(self, *path: str) -> bool:
        """Whether there is a stream; the case of its name does not matter."""
        return tuple(map(str.lower, path)) in self._entries

    def folders(self, prefix: str, within: tuple[str, ...] = ()) -> list[str]:
        """Returns the names of the storages in a storage that begin with a prefix, sorted."""
        names = self._storages.get(tuple(map(str.lower, within)), [])
        return sorted(name for name in names if name.startswith(prefix.lower()))

    def read(self, *path: str) -> bytes:
        """Returns the bytes of a stream. Raises `LoadFailed` if it is missing or damaged."""
        entry = self._entries.get(tuple(map(str.lower, path)))
        if entry is None:
            raise LoadFailed(f"{self._key!r} is damaged: its stream {'/'.join(path)!r} is missing")
        if entry.size > self._left:
            raise LoadFailed(f"{self._key!r} is damaged: its streams state more bytes than the file has")
        self._left -= entry.size
        try:
            with self._file._open(entry.isectStart, entry.size) as stream:  # noqa: SLF001 - the public way is by name
                content: bytes = stream.read()
        except self._errors as error:
            raise self._damaged(error) from error
        return content

    def read_properties(self) -> tuple[str, dict[str, Any]]:
        """Returns the title and the metadata of a document, as far as they can be read."""
        try:
            found = self._file.get_metadata()
        except self._errors:  # properties that are damaged do not lose the text
            return "", {}
        page = found.codepage & 0xFFFF if isinstance(found.codepage, int) else 1252  # it is read as a signed number
        values = {name: _decode(getattr(found, source, None), page) for name, source in _PROPERTIES.items()}
        return str(_decode(found.title, page) or ""), make_metadata(values)

    def _damaged(self, error: Exception) -> LoadFailed:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return LoadFailed(f"{self._key!r} is damaged: {reason}; it may be cut off")


def _decode(value: object, page: int) -> object:
    """Returns a property; texts are bytes in the code page of the file. 1601 is the time of what never was."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8" if page == 65001 else f"cp{page}", "replace").strip("\0 ") or None
        except LookupError:
            return value.decode("latin-1").strip("\0 ") or None
    if isinstance(value, datetime):
        return value if value.year > 1601 else None
    return value

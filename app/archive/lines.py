"""Takes the bytes of an archive apart into numbered lines, plain or compressed, and encodes rows as lines."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from core.errors import LoadFailed, NotFound, TooLarge, Unavailable

_MAX_LINE_BYTES = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's number for a gzip header
_STEP = 1 << 20
_WINDOW = 8192  # bytes of compressed content: each member copies what follows it in the window
_BATCH_LINES = 2000
_BATCH_BYTES = 16 * 1024 * 1024
_FIRST_LINE_BYTES = 1 << 20
_FIRST_KINDS = ("corpus", "backup")


class Line(NamedTuple):
    """A line with its number, from 1. `body` ends with a line break, unless it is the last line."""

    number: int
    body: bytes


def encode_row(row: Mapping[str, object]) -> str:
    """Returns a row as a line of JSON. Equal rows give equal lines."""
    return json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def is_archive(path: Path) -> bool:
    """Returns whether the first line of a file says that it is an archive. The rest is not read."""
    try:
        with _open(path) as file:
            row = json.loads(file.readline(_FIRST_LINE_BYTES))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return False  # another kind of file; the loader that reads it reports its errors
    return isinstance(row, dict) and row.get("kind") in _FIRST_KINDS and isinstance(row.get("format"), int)


def _open(path: Path) -> BinaryIO:
    file = path.open("rb")
    if file.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
        return file
    file.close()
    return gzip.open(path, "rb")  # type: ignore[return-value]  # it has the methods of BinaryIO that are used


class LineDecoder:
    """Takes bytes in pieces of any size and yields the complete lines, in batches of a bounded size.

    Content that begins as gzip does is decompressed, a megabyte at a time. `source` names the archive in errors.
    `max_bytes` limits the decompressed content.
    """

    def __init__(self, source: str, *, max_bytes: int | None = None) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._bytes = 0
        self._number = 0
        self._start = b""
        self._unpacker: _Decompressor | None = None
        self._is_decided = False
        self._rest: list[bytes] = []
        self._rest_bytes = 0

    def feed(self, piece: bytes) -> Iterator[list[Line]]:
        """Raises `LoadFailed` if the content is damaged, and `TooLarge` beyond the limit."""
        if not self._is_decided:
            self._start += piece
            if len(self._start) < len(_GZIP):
                return
            piece, self._start, self._is_decided = self._start, b"", True
            self._unpacker = _Decompressor() if piece.startswith(_GZIP) else None
        batch, size = list[Line](), 0
        for data in self._unpack(piece):
            for line in self._split(data):
                batch.append(line)
                size += len(line.body)
                if len(batch) == _BATCH_LINES or size > _BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
        if batch:
            yield batch

    def finish(self) -> list[Line]:
        """Returns the last line, if it has no line break. Raises `LoadFailed` if compressed content was cut."""
        if self._unpacker is not None and not self._unpacker.is_complete:
            raise LoadFailed(
                f"{self._source} was cut: it ends within what follows line {self._number}; copy or send it again"
            )
        last = b"".join([self._start, *self._rest])
        self._rest, self._start = [], b""
        return [self._make_line(last)] if last else []

    def _unpack(self, piece: bytes) -> Iterator[bytes]:
        if self._unpacker is None:
            parts: Iterator[bytes] = (piece[at : at + _STEP] for at in range(0, len(piece), _STEP))
        else:
            parts = self._unpacker.feed(piece)
        try:
            for part in parts:
                self._bytes += len(part)
                if self._max_bytes is not None and self._bytes > self._max_bytes:
                    raise TooLarge(
                        f"{self._source} has more than {self._max_bytes / 1e6:g} MB, uncompressed; "
                        "raise HOPWEAVE_API__MAX_IMPORT_MB, or use `hopweave ingest` on the server's host"
                    )
                yield part
        except zlib.error as error:
            raise LoadFailed(
                f"{self._source} is damaged after line {self._number} ({error}); copy or send it again"
            ) from error

    def _split(self, data: bytes) -> Iterator[Line]:
        first, *others = data.split(b"\n")
        self._keep(first)
        for other in others:
            body = b"".join([*self._rest, b"\n"])
            self._rest, self._rest_bytes = [], 0
            yield self._make_line(body)
            self._keep(other)

    def _keep(self, part: bytes) -> None:
        self._rest_bytes += len(part)
        if self._rest_bytes > _MAX_LINE_BYTES:
            raise LoadFailed(
                f"{self._source} line {self._number + 1} is longer than {_MAX_LINE_BYTES:,} bytes, the maximum of a row"
            )
        if part:
            self._rest.append(part)

    def _make_line(self, body: bytes) -> Line:
        self._number += 1
        return Line(self._number, body)


class _Decompressor:
    """Decompresses gzip content, which may have several members, without holding more than a step of it."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._between = b""

    @property
    def is_complete(self) -> bool:
        """Whether the last member has ended."""
        return self._member.eof and not self._between

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Raises `zlib.error`."""
        for at in range(0, len(piece), _WINDOW):
            yield from self._feed(piece[at : at + _WINDOW])

    def _feed(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._member.eof:
                piece = (self._between + piece).lstrip(b"\0")  # some tools pad the end
                if piece[: len(_GZIP)] != _GZIP[: len(piece)]:
                    raise zlib.error("something else follows the compressed content")
                if len(piece) < len(_GZIP):
                    self._between = piece
                    return
                self._between = b""
                self._member = zlib.decompressobj(_GZIP_WINDOW)
            data = self._member.decompress(piece, _STEP)
            if data:
                yield data
            piece = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if not data and not piece:
                return


def read_batches(path: Path) -> Iterator[list[Line]]:
    """Yields the lines of a file. Raises `LoadFailed` if it is damaged."""
    decoder = LineDecoder(str(path))
    try:
        with path.open("rb") as file:
            while piece := file.read(_STEP):
                yield from decoder.feed(piece)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}; check the path") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    if last := decoder.finish():
        yield last

"""Reads the numbered lines of a file, plain or compressed, and encodes rows as lines."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from core.errors import LoadFailed, NotFound, Unavailable

__all__ = ["encode_row", "is_archive", "read_lines"]

MAX_LINE_BYTES = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_FIRST_LINE_BYTES = 1 << 20
_FIRST_KINDS = ("corpus", "backup")


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


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields each line with its number, from 1. Raises `LoadFailed` if the file is damaged."""
    number = 0
    try:
        with _open(path) as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise LoadFailed(
                        f"{path} line {number} is longer than {MAX_LINE_BYTES:,} bytes, the maximum of a row"
                    )
                yield number, line
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}; check the path") from error
    except EOFError as error:
        raise LoadFailed(f"{path} was cut: it ends within what follows line {number}; copy it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LoadFailed(f"{path} is damaged after line {number} ({error}); copy it again") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def _open(path: Path) -> BinaryIO:
    file = path.open("rb")
    if file.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
        return file
    file.close()
    return gzip.open(path, "rb")  # type: ignore[return-value]  # it has the methods of BinaryIO that are used

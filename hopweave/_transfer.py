"""Files that are sent or received as they are, without being held in memory."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Draft", "read_pieces"]

_PIECE = 1 << 18


def read_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


class Draft:
    """A file under a hidden name beside `path`, which it replaces when it is complete. Else it is deleted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self._file = self._draft.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def write(self, piece: bytes) -> None:
        self._file.write(piece)

    def keep(self) -> int:
        """Replaces the file. Returns its size in bytes."""
        self._file.close()
        size = self._draft.stat().st_size
        self._draft.replace(self._path)
        return size

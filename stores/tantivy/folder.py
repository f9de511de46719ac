"""The folder of an index, which is created atomically."""

import errno
import os
import secrets
import shutil
from pathlib import Path

from stores.tantivy.analysis import make_schema

__all__ = ["create_index", "read_file_identity", "read_identity"]

_MARKER = "hopweave-1"
"""A file in every complete index, named after its format. A folder without it is damaged, foreign or outdated."""


def create_index(folder: Path) -> None:
    """Creates an empty index at `folder`. If another process did so before, its index stays."""
    from tantivy import Index

    draft = folder.with_name(f".draft-{secrets.token_hex(8)}")
    draft.mkdir(mode=0o700, parents=True)
    Index(make_schema(), path=str(draft))
    (draft / _MARKER).touch()
    try:
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft)
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


def read_identity(folder: Path) -> tuple[int, int] | None:
    """Returns an identity that differs from that of a later index in the same folder, or None if there is no index.

    Raises `FileNotFoundError` if the folder exists without its marker.
    """
    marker = folder / _MARKER
    try:
        return read_file_identity(marker)
    except FileNotFoundError:
        return read_file_identity(marker) if folder.exists() else None  # again, because it may just have been created


def read_file_identity(path: Path) -> tuple[int, int]:
    """Returns an identity that changes when the file at `path` is replaced."""
    stat = os.stat(path)  # noqa: PTH116 - twice per search; Path.stat takes three times as long
    return stat.st_ino, stat.st_mtime_ns

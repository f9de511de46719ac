"""The folder of one corpus' index: made in one step, so that nobody ever sees half of it."""

import errno
import os
import secrets
import shutil
from pathlib import Path

from stores.tantivy.analysis import schema

__all__ = ["create", "file_identity", "identity"]

_MARKER = "hopweave-1"
"""Stands in every whole index and names its format; a folder without it is damaged, foreign or of another version."""


def create(folder: Path) -> None:
    """An empty index at `folder`; where another process was quicker, its index stays."""
    from tantivy import Index

    draft = folder.with_name(f".draft-{secrets.token_hex(8)}")
    draft.mkdir(parents=True)
    Index(schema(), path=str(draft))
    (draft / _MARKER).touch()
    try:
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft)
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


def identity(folder: Path) -> tuple[int, int] | None:
    """What tells this index from a later one at the same place; None where there is no index.

    Raises `FileNotFoundError` where the folder is there and its marker is not.
    """
    marker = folder / _MARKER
    try:
        return file_identity(marker)
    except FileNotFoundError:
        return file_identity(marker) if folder.exists() else None  # again: it may have been made in between


def file_identity(path: Path) -> tuple[int, int]:
    """Changes when another file is put at `path`."""
    stat = os.stat(path)  # noqa: PTH116 - twice per search; Path.stat takes three times as long
    return stat.st_ino, stat.st_mtime_ns

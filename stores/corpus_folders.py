"""Folders of corpora, for the adapters that keep one each."""

import re
import secrets
import shutil
from pathlib import Path

from core.errors import InvalidInput

__all__ = ["corpus_folder", "remove_folder"]

_HEX = re.compile(r"[0-9a-f]{8,128}")
_REMOVED = ".removed-"


def corpus_folder(root: Path, corpus_id: str) -> Path:
    """The corpus' place under `root`; raises `InvalidInput` for an id that could name a place outside."""
    if not _HEX.fullmatch(corpus_id):
        raise InvalidInput(f"corpus id {corpus_id!r} is not valid: ids are 8 to 128 of the digits 0-9 and a-f")
    return root / corpus_id


def remove_folder(folder: Path) -> None:
    """Nothing is at `folder` afterwards. The name goes first, so that nobody ever sees half of it.

    What a process that was killed here left behind goes too.
    """
    removed = folder.with_name(f"{_REMOVED}{secrets.token_hex(8)}")
    try:
        folder.rename(removed)
    except FileNotFoundError:
        pass  # it was not there
    else:
        if removed.is_dir():
            shutil.rmtree(removed)
        else:
            removed.unlink()
    for left in folder.parent.glob(f"{_REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)  # another process may be removing it just now

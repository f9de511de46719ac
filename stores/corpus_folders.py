"""The folder of a corpus, for adapters that have one folder for each corpus."""

import re
import secrets
import shutil
from pathlib import Path

from core.errors import InvalidInput

_HEX = re.compile(r"[0-9a-f]{8,128}")
_DELETED = ".removed-"


def corpus_folder(root: Path, corpus_id: str) -> Path:
    """Returns the folder of a corpus under `root`. Raises `InvalidInput` for an id that could name a path outside."""
    if not _HEX.fullmatch(corpus_id):
        raise InvalidInput(f"corpus id {corpus_id!r} is not valid: ids are 8 to 128 of the digits 0-9 and a-f")
    return root / corpus_id


def delete_folder(folder: Path) -> None:
    """Deletes a folder or file, if it exists.

    It is renamed first, so no process ever sees half of it. Renamed folders that a killed process left are deleted,
    too.
    """
    renamed = folder.with_name(f"{_DELETED}{secrets.token_hex(8)}")
    try:
        folder.rename(renamed)
    except FileNotFoundError:
        pass  # there is nothing to delete
    else:
        if renamed.is_dir():
            shutil.rmtree(renamed)
        else:
            renamed.unlink()
    for left in folder.parent.glob(f"{_DELETED}*"):
        shutil.rmtree(left, ignore_errors=True)  # another process may be deleting it

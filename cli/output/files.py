"""Files that commands write."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput
from core.execution.files import Draft

__all__ = ["replace_file"]


def replace_file(path: Path, fill: Callable[[BinaryIO], int]) -> int:
    """Writes a draft beside the file, replaces the file when the draft is complete, and returns what `fill` returns.

    A device or a pipe is written to as it is. Raises `InvalidInput` if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                return fill(file)
        with Draft(path) as draft:
            written = fill(draft.file)
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    return written

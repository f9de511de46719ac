"""Files that commands write."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput

__all__ = ["replace_file"]


def replace_file(path: Path, fill: Callable[[BinaryIO], int]) -> int:
    """Writes a draft beside the file, replaces the file when the draft is complete, and returns what `fill` returns.

    Raises `InvalidInput` if the file cannot be written.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("wb") as file:
            written = fill(file)
        draft.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
    return written

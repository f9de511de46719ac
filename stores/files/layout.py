"""The paths of originals. They are equal in a folder and in a bucket, so either can be copied into the other."""

import re
from pathlib import Path

from core.errors import InvalidInput

__all__ = ["derived_path", "is_name", "original_path"]

_DERIVED = ".derived"
_NAME = re.compile(r"[0-9a-f]{64}")


def is_name(text: str) -> bool:
    """Returns whether the text can be the name of an original: a content hash."""
    return _NAME.fullmatch(text) is not None


def original_path(corpus: Path, name: str) -> Path:
    """Returns the path of an original. Raises `InvalidInput` for a name that could lead outside of `corpus`."""
    if not is_name(name):
        raise InvalidInput(f"{name!r} is not the name of an original: names are the 64 digits that `put` returned")
    return corpus / name[:2] / name


def derived_path(original: Path) -> Path:
    """Returns the path of what is kept beside the original."""
    return original.with_name(original.name + _DERIVED)

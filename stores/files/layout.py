"""Where an original lies within its corpus: the same in a folder and in a bucket, so that either can be copied into the
other as it is.
"""

import re
from pathlib import Path

from core.errors import InvalidInput

__all__ = ["is_name", "original_path"]

_NAME = re.compile(r"[0-9a-f]{64}")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def original_path(corpus: Path, name: str) -> Path:
    """Raises `InvalidInput` for a name that could lead elsewhere."""
    if not is_name(name):
        raise InvalidInput(f"{name!r} is not the name of an original: names are the 64 digits that `put` returned")
    return corpus / name[:2] / name

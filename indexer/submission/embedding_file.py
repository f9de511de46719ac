"""A `.npy` file with the embeddings of a JSON lines file: one row for each line that is not blank.

The file is mapped, so of millions of rows only those that are being read are in memory.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput, NotFound
from indexer.submission.given_embeddings import encode_embedding

__all__ = ["EmbeddingFile"]

_ROWS_AT_ONCE = 8192


class EmbeddingFile:
    """The rows of a file. `path` is as the user wrote it."""

    def __init__(self, path: Path) -> None:
        """Raises `NotFound` if there is no file, and `InvalidInput` unless it is a matrix of 16- or 32-bit floats."""
        self.path = path
        if not path.is_file():
            raise NotFound(f"there is no file {path}; check the path of --embeddings")
        try:
            rows = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise InvalidInput(f"{path} is no .npy file: {error}; write it with numpy.save") from error
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.name not in {"float16", "float32"}:
            found = f"{rows.dtype} of shape {rows.shape}" if isinstance(rows, np.ndarray) else "several arrays"
            raise InvalidInput(
                f"{path} has {found}, and must have one row of float32 or float16 for each line; write it with "
                "numpy.save(path, vectors.astype('float32'))"
            )
        self._rows: NDArray[Any] = rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dimension(self) -> int:
        return int(self._rows.shape[1])

    def check(self, lines: int, shown: Path) -> None:
        """Reads all rows once. Raises `InvalidInput` if there is not one for each of the `lines` documents of the file
        `shown`, or if one cannot be used.
        """
        if len(self) != lines:
            raise InvalidInput(
                f"{self.path} has {len(self):,} rows, and {shown} has {lines:,} documents; there must be one row for "
                "each line"
            )
        for start in range(0, len(self), _ROWS_AT_ONCE):
            some = np.asarray(self._rows[start : start + _ROWS_AT_ONCE], np.float32)
            usable = np.isfinite(some).all(axis=1) & some.any(axis=1)
            if not usable.all():
                row = start + int(np.flatnonzero(~usable)[0])
                raise InvalidInput(
                    f"{self.path} row {row:,} (counted from 0) has only zeros or a number that is not finite; embed "
                    f"the text of document {row + 1:,} of {shown} again"
                )

    def embed(self, document: Mapping[str, Any], row: int, model: str) -> Mapping[str, Any]:
        """Returns a document with the embedding of a row. Raises `InvalidInput` if it has passages of its own."""
        if document.get("chunks") is not None:
            raise InvalidInput("it has `chunks`, and --embeddings has one row for each line; give it `text` instead")
        return {**document, "embedding": encode_embedding(self._rows[row]), "embedding_model": model}

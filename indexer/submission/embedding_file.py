"""Files with embeddings: a `.npy` file, or a column of a Parquet file, with one row for each document of another file.

A `.npy` file is mapped, and a Parquet file is read in batches, so only the rows that are being read are in memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput, NotFound
from indexer.submission.given_embeddings import encode_embedding
from indexer.submission.parquet_file import SUFFIX, is_vectors, open_parquet, to_matrix

_ROWS_AT_ONCE = 8192
_PARQUET_ROWS_AT_ONCE = 1024
_COLUMN = "embedding"
_MAGIC = b"\x93NUMPY"
"""A `.npy` file begins so."""


def open_embeddings(path: Path) -> "EmbeddingFile":
    """Returns the rows of a file. Raises `NotFound` if the file does not exist, and `InvalidInput` unless each row has
    one vector.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}; check the path of --embeddings")
    return _ParquetEmbeddings(path) if path.suffix.lower() == SUFFIX else _NpyEmbeddings(path)


class EmbeddingFile(ABC):
    """The rows of a file. `path` is as the user wrote it; `dimension` is the length of each row."""

    path: Path
    dimension: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _read_parts(self) -> Iterator[NDArray[Any]]:
        """Yields all rows in order, thousands at once. Raises `InvalidInput` for a row of another length."""

    @abstractmethod
    def _read_row(self, row: int) -> NDArray[Any]:
        """Returns a row. Rows are asked for in order."""

    def check(self, documents: int, shown: Path) -> None:
        """Reads all rows once. Raises `InvalidInput` if a row cannot be used, or if the number of rows is not
        `documents`, the number of documents of the file `shown`.
        """
        if len(self) != documents:
            raise InvalidInput(
                f"{self.path} has {len(self):,} rows, and {shown} has {documents:,} documents; there must be one row "
                "for each document"
            )
        start = 0
        for part in self._read_parts():
            some = np.asarray(part, np.float32)
            usable = np.isfinite(some).all(axis=1) & some.any(axis=1)
            if not usable.all():
                row = start + int(np.flatnonzero(~usable)[0])
                raise InvalidInput(
                    f"{self.path} row {row:,} (counted from 0) has only zeros or a number that is not finite; embed "
                    f"the text of document {row + 1:,} of {shown} again"
                )
            start += len(part)

    def embed(self, document: Mapping[str, Any], row: int, model: str) -> Mapping[str, Any]:
        """Returns a document with the embedding of a row. Raises `InvalidInput` if it has passages of its own."""
        if document.get("chunks") is not None:
            raise InvalidInput(
                "it has `chunks`, and --embeddings has one row for each document; give it `text` instead"
            )
        return {**document, "embedding": encode_embedding(self._read_row(row)), "embedding_model": model}


class _NpyEmbeddings(EmbeddingFile):
    def __init__(self, path: Path) -> None:
        """Raises `InvalidInput` unless it is a matrix of 16- or 32-bit floats."""
        self.path = path
        try:
            rows = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error
        except (ValueError, EOFError) as error:  # numpy's message advises to load it unsafely
            reason = (
                "is a .npy file that is cut off"
                if _begins_as_npy(path)
                else f"is neither a .npy file nor named {SUFFIX}"
            )
            raise InvalidInput(f"{path} {reason}; write it with numpy.save") from error
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.name not in {"float16", "float32"}:
            found = f"{rows.dtype} of shape {rows.shape}" if isinstance(rows, np.ndarray) else "several arrays"
            raise InvalidInput(
                f"{path} has {found}, and must have one row of float32 or float16 for each document: an array of shape "
                "(documents, dimension); write it with numpy.save(path, vectors.astype('float32'))"
            )
        self._rows: NDArray[Any] = rows
        self.dimension = int(rows.shape[1])

    def __len__(self) -> int:
        return len(self._rows)

    def _read_parts(self) -> Iterator[NDArray[Any]]:
        return (self._rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(self), _ROWS_AT_ONCE))

    def _read_row(self, row: int) -> NDArray[Any]:
        vector: NDArray[Any] = self._rows[row]
        return vector


class _ParquetEmbeddings(EmbeddingFile):
    """The column `embedding`, or the only one of lists of floats."""

    def __init__(self, path: Path) -> None:
        """Raises `InvalidInput` if there is no such column, or the file cannot be read with pyarrow."""
        self.path = path
        with open_parquet(path, str(path)) as file:
            self._column = _find_column(file.schema_arrow, path)
            self._rows = int(file.metadata.num_rows)
            first = next(file.iter_batches(1, columns=[self._column]), None)
            self.dimension = 0 if first is None else len(first.column(0)[0].values or ())
        self._parts: Iterator[NDArray[Any]] = iter(())
        self._part: NDArray[Any] = np.empty((0, self.dimension), np.float32)
        self._start = 0

    def __len__(self) -> int:
        return self._rows

    def _read_parts(self) -> Iterator[NDArray[Any]]:
        start = 0
        with open_parquet(self.path, str(self.path)) as file:
            for batch in file.iter_batches(_PARQUET_ROWS_AT_ONCE, columns=[self._column]):
                part = to_matrix(batch.column(0), self.dimension, start, str(self.path))
                start += len(part)
                yield part

    def _read_row(self, row: int) -> NDArray[Any]:
        if row < self._start or not len(self._part):
            self._parts, self._part, self._start = self._read_parts(), self._part[:0], 0
        while row >= self._start + len(self._part):
            self._start += len(self._part)
            self._part = next(self._parts)
        vector: NDArray[Any] = self._part[row - self._start]
        return vector


def _find_column(schema: Any, path: Path) -> str:
    """Returns the name of the column of vectors."""
    found = [field.name for field in schema if is_vectors(field.type)]
    if _COLUMN in found or len(found) == 1:
        return _COLUMN if _COLUMN in found else str(found[0])
    described = ", ".join(f"{field.name} ({field.type})" for field in schema)
    raise InvalidInput(
        f"{path} has the columns {described}, and must have one with a list of float32 for each document; call it "
        f"`{_COLUMN}`"
    )


def _begins_as_npy(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC

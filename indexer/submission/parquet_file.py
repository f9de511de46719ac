"""Reading of Parquet files: documents, one for each row, and columns of vectors. Files are read as a stream of batches.

pyarrow, which reads them, is of the extra `parquet`, and is imported when the first such file is read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput
from indexer.submission.document_json import DOCUMENT_FIELDS, parse_json
from indexer.submission.given_embeddings import encode_embedding
from indexer.submission.json_lines import Embed, LocatedSubmission, Rejection
from indexer.submission.submissions import submission_from_json

SUFFIX = ".parquet"
_INSTALL = 'pip install "hopweave[parquet]" (or uv tool install "hopweave[parquet]")'
_ROWS_AT_ONCE = 256
_BUFFER_BYTES = 1 << 20
_STRINGS = ("key", "id", "title", "text", "embedding_model")


@contextmanager
def open_parquet(path: Path, shown: str) -> Iterator[Any]:
    """Opens a file, which is called `shown` in messages, as `pyarrow.parquet.ParquetFile`.

    Column chunks are read in parts, so that memory does not grow with the row groups. Raises `InvalidInput` if pyarrow
    is not installed or the file is damaged, also while it is read in the block, and `OSError` if it cannot be read.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InvalidInput(f"{shown} is read with pyarrow, which is not installed: {_INSTALL}") from error
    with path.open("rb") as file:
        try:
            yield pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:  # which is an `OSError` without a number for damaged pages
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InvalidInput(
                f"{shown} is damaged, or no Parquet file: {_first_line(error)}; write it again"
            ) from error


def count_rows(path: Path) -> int:
    """Returns the number of rows, each of which is a document. Raises what `open_parquet` raises."""
    with open_parquet(path, str(path)) as file:
        return int(file.metadata.num_rows)


def read_parquet(path: Path, shown: str, *, embed: Embed | None = None) -> Iterator[LocatedSubmission | Rejection]:
    """Yields the documents of a file, which is called `shown` in messages: each row is the same document as a JSON line
    with its columns as fields.

    `embed` adds its embedding to each document, by the number of its row from 0; the file's own embeddings are then not
    read.
    Raises `OSError` if the file cannot be read.
    """
    try:
        with open_parquet(path, shown) as file:
            columns = _choose_columns(file.schema_arrow, has_embeddings=embed is None)
            row = 0
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns):
                for fields in _read_batch(batch):
                    yield _make_document(fields, row, shown, embed)
                    row += 1
    except InvalidInput as error:
        yield Rejection(source=shown, reason=str(error), hides=True)


def is_vectors(type: Any) -> bool:
    """Whether a type of pyarrow is a list of floats, of a fixed length or not."""
    from pyarrow import types

    is_list = types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type)
    return bool(is_list and types.is_floating(type.value_type))


def to_matrix(column: Any, dimension: int, first: int, shown: str) -> NDArray[np.float32]:
    """Returns the vectors of a column, one in each row. Missing or too large numbers are not finite in the result.

    `first` is the number of its first row in the file. Raises `InvalidInput` for a row of another length.
    """
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != dimension)
    if len(wrong):
        raise InvalidInput(
            f"{shown} row {first + wrong[0]:,} (counted from 0) has {lengths[wrong[0]]:,} numbers, and row 0 has "
            f"{dimension:,}; embed all texts with the same model"
        )
    return _to_floats(column.flatten()).reshape(len(column), dimension)


def _to_floats(values: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        floats: NDArray[np.float32] = values.to_numpy(zero_copy_only=False).astype(np.float32)
    return floats


def _choose_columns(schema: Any, *, has_embeddings: bool) -> list[str]:
    """Returns the columns that are fields of a document. Raises `InvalidInput` if a document cannot be made of them."""
    from pyarrow import types

    known = {"key", "id", "access", *DOCUMENT_FIELDS} - (set() if has_embeddings else {"embedding", "embedding_model"})
    columns = [name for name in schema.names if name in known]
    if not {"text", "chunks"} & set(columns):
        found = ", ".join(schema.names)
        raise InvalidInput(f"it has the columns {found}, and no `text`; name the column of the texts so")
    for name in {*_STRINGS} & {*columns}:
        type = schema.field(name).type
        plain = type.value_type if types.is_dictionary(type) else type
        if not (types.is_string(plain) or types.is_large_string(plain) or types.is_string_view(plain)):
            raise InvalidInput(f"the column `{name}` is of the type {type}; write it as strings")
    if "embedding" in columns:
        _check_embedding(schema)
    return columns


def _check_embedding(schema: Any) -> None:
    from pyarrow import types

    type = schema.field("embedding").type
    if not (is_vectors(type) or types.is_string(type) or types.is_large_string(type)):
        raise InvalidInput(f"the column `embedding` is of the type {type}; write it as lists of float32")
    if "embedding_model" not in schema.names:
        raise InvalidInput(
            "it has a column `embedding` and none that names its model: add `embedding_model`, or name the file with "
            "--embeddings, too, if the corpus has that model"
        )


def _read_batch(batch: Any) -> Iterator[dict[str, Any]]:
    vectors = None
    if "embedding" in batch.schema.names and is_vectors(batch.schema.field("embedding").type):
        vectors = batch.column("embedding")
        batch = batch.drop_columns(["embedding"])
    for place, fields in enumerate(batch.to_pylist(maps_as_pydicts="strict")):
        if vectors is not None and vectors[place].is_valid:
            fields["embedding"] = _to_floats(vectors[place].values)
        yield fields


def _make_document(fields: dict[str, Any], row: int, shown: str, embed: Embed | None) -> LocatedSubmission | Rejection:
    source = f"{shown} row {row + 1}"
    try:
        document = _to_json(fields)
        if embed is not None:
            document = embed(document, row)
        return LocatedSubmission(submission=submission_from_json(document), source=source)
    except InvalidInput as error:
        key = fields.get("key") or fields.get("id")
        return Rejection(source=source, reason=str(error), key=key)


def _to_json(fields: dict[str, Any]) -> Mapping[str, Any]:
    """Returns a row as a JSON object. Metadata may be JSON in a string; its fields that are null are left out."""
    document = {name: value for name, value in fields.items() if value is not None}
    metadata = document.get("metadata")
    if isinstance(metadata, str):
        document["metadata"] = _parse_metadata(metadata)
    elif metadata is not None:
        document["metadata"] = _to_plain(metadata)
    vector = document.get("embedding")
    if isinstance(vector, np.ndarray):
        document["embedding"] = _encode(vector)
    return document


def _parse_metadata(text: str) -> object:
    try:
        return parse_json(text)
    except InvalidInput as error:
        raise InvalidInput(f"`metadata` is {error}") from error


def _encode(vector: NDArray[np.float32]) -> str:
    try:
        return encode_embedding(vector)
    except InvalidInput as error:
        raise InvalidInput(f"`embedding` {error}") from error


def _to_plain(value: object) -> object:
    """Returns a value without the nulls in structures, which stand for fields that the row does not have. Dates and
    times are written in ISO 8601.
    """
    if isinstance(value, dict):
        return {name: _to_plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_to_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

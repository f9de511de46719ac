"""What Milvus stores and is asked for: names of collections, keys, filter expressions, and batches of rows.

Names and expressions are made only of characters that need no escapes. Batches are checked, have each id once, and are
written in parts of bounded size.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from core.errors import InvalidInput
from core.ports.embedding import Vectors
from core.ports.views import VectorBatch, VectorKind

KEY_LENGTH = 128
_PREFIX = "hopweave"
_KEY = re.compile(rf"[0-9A-Za-z_.:-]{{1,{KEY_LENGTH}}}", re.ASCII)
_CORPUS = re.compile(r"[0-9A-Za-z_]{1,128}", re.ASCII)


def collection_name(corpus_id: str, kind: VectorKind) -> str:
    """Returns the name of a collection. Its prefix avoids conflicts with other applications."""
    if not _CORPUS.fullmatch(corpus_id):
        raise InvalidInput(
            f"{corpus_id[:80]!r} cannot be part of the name of a Milvus collection: give the id of a corpus"
        )
    return f"{_PREFIX}_{corpus_id}_{kind}"


def _is_key(value: str) -> bool:
    """Returns whether a row can have this id or document. Quotes and backslashes are not allowed."""
    return _KEY.fullmatch(value) is not None


def select_keys(values: Iterable[str]) -> list[str]:
    """Returns the values that a row can have, each once. No row has the others, so results do not change."""
    return [value for value in dict.fromkeys(values) if _is_key(value)]


def make_in_filter(field: str, values: Sequence[str]) -> str:
    """Returns `field in [...]`. The values come from `select_keys` and need no escapes."""
    quoted = ",".join(f'"{value}"' for value in values)
    return f"{field} in [{quoted}]"


def batched(values: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part


_PART_BYTES = 8_000_000
_PART_ROWS = 2_000


def check_vectors(batch: VectorBatch) -> Vectors:
    """Returns the vectors of a batch as float32 rows. Raises `InvalidInput` if the batch cannot be written."""
    vectors = np.ascontiguousarray(batch.vectors, dtype=np.float32)
    if not len(batch.ids) == len(batch.documents) == len(vectors):
        sizes = f"{len(batch.ids)} ids, {len(batch.documents)} documents and {len(vectors)} vectors"
        raise InvalidInput(f"a vector batch has {sizes}: give as many of each")
    if len(vectors) and vectors.ndim != 2:
        raise InvalidInput(f"vectors have shape {vectors.shape}: give one row of numbers per id")
    if not np.isfinite(vectors).all():
        raise InvalidInput("a vector holds a number that is not finite: the embedding model is at fault, not the store")
    for key in (*batch.ids, *filter(None, batch.documents)):
        if not _is_key(key):
            raise InvalidInput(
                f"{key[:80]!r} cannot be the id of a vector or its document: ids are up to {KEY_LENGTH} of the letters "
                "a to z, digits and -_.:"
            )
    return vectors


def split_rows(batch: VectorBatch, vectors: Vectors) -> Iterator[list[dict[str, Any]]]:
    """Yields rows for pymilvus, some megabytes at a time. Of a repeated id, the last row counts."""
    last = list({id_: i for i, id_ in enumerate(batch.ids)}.items())
    size = max(1, min(_PART_ROWS, _PART_BYTES // (vectors.shape[1] * vectors.itemsize)))
    for start in range(0, len(last), size):
        yield [
            {"id": id_, "document": batch.documents[i], "vector": vectors[i]} for id_, i in last[start : start + size]
        ]

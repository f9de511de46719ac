"""Prepares batches for Milvus: checked, each id once, in parts of bounded size."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.errors import InvalidInput
from core.ports.embedding import Vectors
from core.ports.views import VectorBatch
from stores.milvus.expressions import KEY_LENGTH, is_key

__all__ = ["check_vectors", "split_rows"]

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
        if not is_key(key):
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

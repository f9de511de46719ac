"""Reads all rows of a collection in pages of bounded size, without relying on an order of the server."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.exact_search import VectorSnapshot
from stores.milvus.collection import MilvusCollection

__all__ = ["make_snapshot", "read_all_ids", "scan_best"]

_IDS = 8_192
_VECTORS = 2_048


def read_all_ids(collection: MilvusCollection) -> list[str]:
    """Returns the ids of all rows, sorted."""
    return sorted({row["id"] for rows in _read_pages(collection, ["id"], _IDS) for row in rows})


def scan_best(collection: MilvusCollection, query: Vectors, k: int, filter_: str = "") -> list[Scored]:
    """Returns the `k` best by reading every row. Use it if `k` exceeds what a server returns at once."""
    best: list[Scored] = []
    for rows in _read_pages(collection, ["id", "vector"], _VECTORS, filter_):
        vectors = {row["id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}
        if vectors:
            best = sorted(
                [*best, *make_snapshot(vectors).search(query, k, None)], key=lambda hit: (-hit.score, hit.id)
            )[:k]
    return best


def make_snapshot(vectors: dict[str, Vectors]) -> VectorSnapshot:
    """Makes a snapshot of at least one vector, for exact search in memory."""
    matrix = np.stack(list(vectors.values()))
    return VectorSnapshot.empty(matrix.shape[1], len(matrix)).extended(
        range(len(matrix)), list(vectors), [""] * len(matrix), matrix
    )


def _read_pages(
    collection: MilvusCollection, fields: list[str], size: int, filter_: str = ""
) -> Iterator[list[dict[str, Any]]]:
    """Yields pages of rows. A range of ids that fills a page is split at the median id of that page."""
    ranges: list[tuple[str, str]] = [("", "")]
    first = True
    while ranges:
        after, upto = ranges.pop()
        bounds = [f'id > "{after}"', *([f'id <= "{upto}"'] if upto else []), *([filter_] if filter_ else [])]
        rows = collection.read_page(" and ".join(bounds), fields, size, "Strong" if first else "Session")
        first = False
        if len(rows) < size:
            yield rows
        else:
            middle = sorted(row["id"] for row in rows)[size // 2]
            ranges += [(middle, upto), (after, middle)]

"""All rows of a collection, in answers of bounded size, whatever order the server gives them in."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.exact_search import VectorSnapshot
from stores.milvus.collection import Collection

__all__ = ["all_ids", "best_of_all", "snapshot"]

_IDS = 8_192
_VECTORS = 2_048


def all_ids(collection: Collection) -> list[str]:
    return sorted({row["id"] for rows in _pages(collection, ["id"], _IDS) for row in rows})


def best_of_all(collection: Collection, query: Vectors, k: int, filter_: str = "") -> list[Scored]:
    """The `k` best by reading every row: for more answers than a server gives at once."""
    best: list[Scored] = []
    for rows in _pages(collection, ["id", "vector"], _VECTORS, filter_):
        vectors = {row["id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}
        if vectors:
            best = sorted([*best, *snapshot(vectors).search(query, k, None)], key=lambda hit: (-hit.score, hit.id))[:k]
    return best


def snapshot(vectors: dict[str, Vectors]) -> VectorSnapshot:
    """At least one vector, to be compared in memory and exactly."""
    matrix = np.stack(list(vectors.values()))
    return VectorSnapshot.empty(matrix.shape[1], len(matrix)).extended(
        range(len(matrix)), list(vectors), [""] * len(matrix), matrix
    )


def _pages(collection: Collection, fields: list[str], size: int, filter_: str = "") -> Iterator[list[dict[str, Any]]]:
    """A range of ids that fills a page is halved, at the middle of what the page holds."""
    ranges: list[tuple[str, str]] = [("", "")]
    first = True
    while ranges:
        after, upto = ranges.pop()
        bounds = [f'id > "{after}"', *([f'id <= "{upto}"'] if upto else []), *([filter_] if filter_ else [])]
        rows = collection.page(" and ".join(bounds), fields, size, "Strong" if first else "Session")
        first = False
        if len(rows) < size:
            yield rows
        else:
            middle = sorted(row["id"] for row in rows)[size // 2]
            ranges += [(middle, upto), (after, middle)]

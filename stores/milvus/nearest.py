"""Reads more, and more exactly, than a server with approximate results gives at once.

First come reads of all rows, in pages of bounded size that do not rely on an order of the server. Then come searches as
exact as the port requires.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.exact_search import VectorSnapshot
from stores.milvus.collection import MAX_ROWS, Level, MilvusCollection
from stores.milvus.rows import batched, make_in_filter

_IDS = 8_192
_VECTORS = 2_048


def read_all_ids(collection: MilvusCollection) -> list[str]:
    """Returns the ids of all rows, sorted."""
    return sorted({row["id"] for rows in _read_pages(collection, ["id"], _IDS) for row in rows})


def _scan_best(collection: MilvusCollection, query: Vectors, k: int, filter_: str = "") -> list[Scored]:
    """Returns the `k` best by reading every row. Use it if `k` exceeds what a server returns at once."""
    best: list[Scored] = []
    for rows in _read_pages(collection, ["id", "vector"], _VECTORS, filter_):
        vectors = {row["id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}
        if vectors:
            best = sorted(
                [*best, *_make_snapshot(vectors).search(query, k, None)], key=lambda hit: (-hit.score, hit.id)
            )[:k]
    return best


def _make_snapshot(vectors: dict[str, Vectors]) -> VectorSnapshot:
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


ALL_ROWS = -1.01
"""A radius below every cosine. With it a range search examines all rows; a search without radius examines some.

Recent rows are in growing segments, for which servers have a coarse index of their own. A search without radius found
57 of the true 100 best there, with any parameters. A range search continues while it finds rows.
"""

_SLACK = 0.5
"""How far below the threshold the radius of a range search is, unless it examines all rows."""

_MARGIN = 1e-5
_DOCUMENTS = 1_000
_QUERIES = 25
_FIRST = 64


def search_best(
    collection: MilvusCollection, query: Vectors, k: int, documents: Sequence[str] | None, radius: float | None
) -> list[Scored]:
    """Returns the `k` best rows, ties by id."""
    filters = (
        [""] if documents is None else [make_in_filter("document", part) for part in batched(documents, _DOCUMENTS)]
    )
    found = [hit for filter_ in filters for hit in _search_filtered(collection, query, k, filter_, radius)]
    return sorted(found, key=_sort_key)[:k]


def search_within(
    collection: MilvusCollection, queries: Vectors, threshold: float, radius: float | None
) -> list[list[Scored]]:
    """Returns for each query all rows that score at least `threshold`.

    The server finds candidates, whose scores are computed here, exactly. The search sees the writes of all processes,
    so if two workers write at the same time, one finds the other's rows.
    """
    candidates: dict[str, None] = {}
    waiting, limit = list(range(len(queries))), _FIRST
    start = threshold - _SLACK if radius is None else radius
    level: Level = "Strong"
    while waiting and limit <= MAX_ROWS:
        again = []
        at_once = max(1, min(_QUERIES, MAX_ROWS // limit))
        for begin in range(0, len(waiting), at_once):
            part = waiting[begin : begin + at_once]
            named = collection.search(queries[part], limit, radius=start, level=level)
            level = "Session"  # the first read has waited for the writes of all processes
            for i, hits in zip(part, named, strict=True):
                near = [hit.id for hit in hits if hit.score >= threshold - _MARGIN]
                candidates.update(dict.fromkeys(near))
                if len(near) == limit:
                    again.append(i)
        waiting, limit = again, limit * 4
    found = collection.read_vectors(list(candidates))
    answers = _make_snapshot(found).within(queries, threshold) if found else [[] for _ in queries]
    for i in waiting:
        everything = _scan_best(collection, queries[i], collection.count() + MAX_ROWS)
        answers[i] = [hit for hit in everything if hit.score >= threshold]
    return answers


def _search_filtered(
    collection: MilvusCollection, query: Vectors, k: int, filter_: str, radius: float | None
) -> list[Scored]:
    limit = k + 1  # the extra hit shows whether a tie was cut
    while limit <= MAX_ROWS:
        [hits] = collection.search(query[np.newaxis], limit, filter_=filter_, radius=radius)
        if len(hits) < limit or hits[k - 1].score > hits[-1].score:
            return sorted(hits, key=_sort_key)[:k]
        limit = min(2 * limit, MAX_ROWS) if limit < MAX_ROWS else MAX_ROWS + 1
    return _scan_best(collection, query, k, filter_)


def _sort_key(hit: Scored) -> tuple[float, str]:
    return -hit.score, hit.id

"""Searches that answer as exactly as the port asks, over a server that answers approximately."""

from collections.abc import Sequence

import numpy as np

from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.milvus.collection import MOST, Collection, Level
from stores.milvus.expressions import batched, listed
from stores.milvus.pages import best_of_all, snapshot

__all__ = ["EVERY", "best", "within"]

EVERY = -1.01
"""A radius that every cosine is beyond: a range search looks at all rows, where a plain one looks at some.

Rows that were written lately lie in growing segments, for which servers keep a coarse index of their own: a plain
search has found 57 of the true 100 best there, whatever it asked for. A range search goes on while it finds anything.
"""

_SLACK = 0.5
"""How far below the threshold a range search begins where it does not look at every row."""

_MARGIN = 1e-5
_DOCUMENTS = 1_000
_QUERIES = 25
_FIRST = 64


def best(
    collection: Collection, query: Vectors, k: int, documents: Sequence[str] | None, radius: float | None
) -> list[Scored]:
    """The `k` best, ties by id."""
    filters = [""] if documents is None else [listed("document", part) for part in batched(documents, _DOCUMENTS)]
    found = [hit for filter_ in filters for hit in _best(collection, query, k, filter_, radius)]
    return sorted(found, key=_order)[:k]


def within(collection: Collection, queries: Vectors, threshold: float, radius: float | None) -> list[list[Scored]]:
    """All rows that are near enough: the server names candidates, and what they score is worked out here, exactly.

    It sees what any process has written before, so that of two workers that write at once one finds the other's.
    """
    candidates: dict[str, None] = {}
    waiting, limit = list(range(len(queries))), _FIRST
    start = threshold - _SLACK if radius is None else radius
    level: Level = "Strong"
    while waiting and limit <= MOST:
        again = []
        at_once = max(1, min(_QUERIES, MOST // limit))
        for begin in range(0, len(waiting), at_once):
            part = waiting[begin : begin + at_once]
            named = collection.search(queries[part], limit, radius=start, level=level)
            level = "Session"  # what was waited for once is seen from then on
            for i, hits in zip(part, named, strict=True):
                near = [hit.id for hit in hits if hit.score >= threshold - _MARGIN]
                candidates.update(dict.fromkeys(near))
                if len(near) == limit:
                    again.append(i)
        waiting, limit = again, limit * 4
    found = collection.vectors(list(candidates))
    answers = snapshot(found).within(queries, threshold) if found else [[] for _ in queries]
    for i in waiting:
        everything = best_of_all(collection, queries[i], collection.count() + MOST)
        answers[i] = [hit for hit in everything if hit.score >= threshold]
    return answers


def _best(collection: Collection, query: Vectors, k: int, filter_: str, radius: float | None) -> list[Scored]:
    limit = k + 1  # one more shows whether a tie was cut
    while limit <= MOST:
        [hits] = collection.search(query[np.newaxis], limit, filter_=filter_, radius=radius)
        if len(hits) < limit or hits[k - 1].score > hits[-1].score:
            return sorted(hits, key=_order)[:k]
        limit = min(2 * limit, MOST) if limit < MOST else MOST + 1
    return best_of_all(collection, query, k, filter_)


def _order(hit: Scored) -> tuple[float, str]:
    return -hit.score, hit.id

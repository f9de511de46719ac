"""One hit for each document: a search that goes on until enough documents are found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.ports.retrieval import MAX_K, Hit, Query, Searcher, SearchResult
from core.trace import Trace

__all__ = ["search_by_document"]

_PASSAGES = 8
"""Passages that are searched for each document that is asked for, at first and whenever they were not enough."""


async def search_by_document(
    searcher: Searcher, query: Query, trace: Trace
) -> tuple[SearchResult, Mapping[str, tuple[Hit, ...]]]:
    """Returns the best hit of each of the `query.k` best documents, and the other hits of these documents.

    The others are by the id of the best hit's chunk. They are those that rank before the first passage of any further
    document, so they do not depend on how many passages were searched. At most `MAX_K` passages are searched.
    """
    k = min(query.k * _PASSAGES, MAX_K)
    while True:
        result = await searcher.search(replace(query, k=k), trace)
        groups, enough = _group(result.hits, query.k)
        if enough or len(result.hits) < k or k == MAX_K:
            break
        k = min(k * _PASSAGES, MAX_K)
    if len(groups) < query.k and len(result.hits) == MAX_K:
        count = "one document" if len(groups) == 1 else f"{len(groups)} documents"
        trace.note(f"grouped: the first {MAX_K:,} passages are of {count}; others were not looked for")
    hits = tuple(group[0] for group in groups)
    return replace(result, hits=hits), {group[0].chunk.id: tuple(group[1:]) for group in groups}


def _group(hits: Sequence[Hit], k: int) -> tuple[list[list[Hit]], bool]:
    """Returns the hits of the first `k` documents, up to the first hit of a further one, and whether there is one."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        document = (hit.corpus, hit.document.id)  # several corpora may have documents with the same key
        if document not in groups and len(groups) == k:
            return list(groups.values()), True
        groups.setdefault(document, []).append(hit)
    return list(groups.values()), False

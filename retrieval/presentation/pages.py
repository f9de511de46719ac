"""`SearchPage`: the hits of a search as users read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.documents import Chunk
from core.ports.retrieval import Hit, Query, SearchResult
from retrieval.backends import RetrievalBackends
from retrieval.interruption import check_interrupted, run_interruptibly
from retrieval.presentation.neighbours import Surrounded, add_neighbours
from retrieval.presentation.snippets import Snippet, make_snippet, weigh_words

__all__ = ["PresentedHit", "SearchPage", "present"]


@dataclass(frozen=True, kw_only=True)
class PresentedHit:
    """A hit with its snippet, its neighbours in reading order, and the other hits of its document, best first."""

    hit: Hit
    snippet: Snippet
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()
    others: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """The hits, best first, and the generation of the corpus that they were ranked in."""

    hits: tuple[PresentedHit, ...]
    generation: int


async def present(
    result: SearchResult,
    query: Query,
    backends: RetrievalBackends,
    *,
    context: int = 0,
    others: Mapping[str, tuple[Hit, ...]] | None = None,
) -> SearchPage:
    """Returns the hits with their snippets and up to `context` passages before and after each.

    `others` are the other hits of the documents, by the id of the hit's chunk.
    """
    surrounded = await add_neighbours(result.hits, query.corpus.id, backends.contents, context)
    snapshot = await backends.snapshots.get(query.corpus.id)
    weights = weigh_words(query.text, snapshot.statistics)
    snippets = await run_interruptibly(_make_snippets, [one.hit.chunk.text for one in surrounded], weights)
    hits = [
        _present_one(one, snippet, (others or {}).get(one.hit.chunk.id, ()))
        for one, snippet in zip(surrounded, snippets, strict=True)
    ]
    return SearchPage(hits=tuple(hits), generation=result.generation)


def _make_snippets(texts: Sequence[str], weights: Mapping[str, float]) -> list[Snippet]:
    snippets = []
    for text in texts:
        check_interrupted()
        snippets.append(make_snippet(text, weights))
    return snippets


def _present_one(one: Surrounded, snippet: Snippet, others: tuple[Hit, ...]) -> PresentedHit:
    return PresentedHit(hit=one.hit, snippet=snippet, before=one.before, after=one.after, others=others)

"""Passages from the web: the excerpts that a search engine returns. Nothing is stored, and no page is fetched."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.documents import Chunk, DocumentRef
from core.errors import InvalidInput, InvalidStrategy
from core.ids import digest
from core.ports.embedding import Embedder
from core.ports.retrieval import Hit, Query, SearchResult, Signals, WebResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends, WebAccess

TAKES_PARTS = True

_LONGEST = 400
"""Characters of a query; search engines accept no more."""


class Config(StrategyConfig):
    """No options: the search engine is a setting of the server (HOPWEAVE_WEB__KIND)."""


class Web:
    """Searches only if the request permits it and the query cannot contain text of the corpus."""

    def __init__(self, access: WebAccess, embedder: Embedder) -> None:
        self._access = access
        self._embedder = embedder

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        if not query.web:
            raise InvalidInput("the request does not permit a web search: set web to true")
        hits: tuple[Hit, ...] = ()
        if reason := self._why_closed(query):
            trace.note(f"web: not asked, since {reason}")
        elif text := _shorten(query.text, trace):
            with trace.timed("web"):
                results = await self._access.search.search(text, query.k)
            hits = tuple(_make_hit(place, result) for place, result in enumerate(results[: query.k], start=1))
            hits = await self._filter_similar(hits, query)
        corpora = [part.corpus for part in query.parts] or [query.corpus]
        return SearchResult(
            hits=hits,
            generation=query.corpus.generation,
            generations={corpus.name: corpus.generation for corpus in corpora},
        )

    def _why_closed(self, query: Query) -> str:
        """Returns why this query must not be sent, or '' if it may be."""
        if query.private and not self._access.after_private:
            return "what wrote the query had been shown passages of yours (HOPWEAVE_WEB__AFTER_PRIVATE)"
        if query.documents is not None and not query.masked:
            return "the filter admits documents of the corpus only"
        return ""

    async def _filter_similar(self, hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
        """Returns the hits whose cosine is at least `min_similarity`; all hits if it is not set."""
        if query.min_similarity is None or not hits:
            return tuple(hits)
        question = await self._embedder.embed_query(query.text)
        passages = await self._embedder.embed_passages([f"{hit.document.title}\n{hit.chunk.text}" for hit in hits])
        cosines = (passages @ question).astype(np.float64).tolist()
        return tuple(
            replace(hit, signals=Signals(dense=cosine))
            for hit, cosine in zip(hits, cosines, strict=True)
            if cosine >= query.min_similarity
        )


def _shorten(text: str, trace: Trace) -> str:
    text = " ".join(text.split())
    if len(text) <= _LONGEST:
        return text
    trace.note(f"web: the query was cut to its first {_LONGEST} characters")
    return text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]


def _make_hit(place: int, result: WebResult) -> Hit:
    document_id = "web:" + digest("web-document", [result.url])
    chunk = Chunk(
        id="web:" + digest("web-chunk", [result.url, result.text]),
        document_id=document_id,
        view_id="",
        position=place - 1,
        text=result.text,
        heading="",
        page=None,
        span=None,
    )
    document = DocumentRef(
        id=document_id, key=result.url, title=result.title, metadata={"source": "web", "url": result.url}
    )
    return Hit(chunk=chunk, document=document, score=1.0 / place, url=result.url)


def build(config: Config, backends: RetrievalBackends) -> Web:  # noqa: ARG001 - every strategy is built alike
    if backends.web is None:
        raise InvalidStrategy(
            "the searcher 'web' needs a search engine, and none is configured: set HOPWEAVE_WEB__KIND to 'searxng' "
            "(with HOPWEAVE_WEB__URL) or 'tavily' (with HOPWEAVE_WEB__API_KEY)"
        )
    return Web(backends.web, backends.embedder)

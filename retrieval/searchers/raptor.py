"""Passages and summaries of a tree by cosine, up to a number of tokens: the collapsed tree of RAPTOR.

`hopweave corpora tree` makes the corpus with the summaries; all layers are searched at once (arXiv 2401.18059, section
3, "Querying", algorithm 2).
"""

import asyncio
from dataclasses import replace
from itertools import accumulate

from pydantic import Field

from core.corpora import Corpus
from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import require_vectors, search_current
from retrieval.candidates.results import search_by_cosine
from retrieval.graph.snapshot import GraphSnapshot

SOURCE = "arXiv 2401.18059"


class Config(StrategyConfig):
    """How much is returned."""

    tokens: int = Field(
        default=2_000,
        ge=1,
        le=1_000_000,
        description="Tokens of the embedding model that the texts of all hits have together at most.",
    )


class Raptor:
    """Ranks as `dense` does. Hits end before the first hit that exceeds the budget; the best is always returned."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        require_vectors(corpus, "the searcher raptor")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        await self.check(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        found = await search_by_cosine(self._backends, query, snapshot, trace)
        texts = [hit.chunk.text for hit in found.hits]
        counts = await asyncio.to_thread(self._backends.embedder.tokens.count, texts)
        fitting = sum(total <= self._config.tokens for total in accumulate(counts))
        return replace(found, hits=found.hits[: max(1, fitting)])


def build(config: Config, backends: RetrievalBackends) -> Raptor:
    return Raptor(config, backends)

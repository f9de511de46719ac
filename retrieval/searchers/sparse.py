"""Passages that contain the question's words, by BM25."""

from typing import Literal

from pydantic import Field

from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import search_current
from retrieval.candidates.lucene_syntax import parse_lucene
from retrieval.candidates.min_similarity import add_cosines, count_candidates
from retrieval.candidates.results import Ranking, build_result
from retrieval.candidates.view_search import search_text
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["Config", "Sparse", "build"]


class Config(StrategyConfig):
    """How the query is parsed; the text index has its own BM25."""

    syntax: Literal["words", "lucene"] = Field(
        default="words",
        description='`words`: the query has no syntax; `lucene`: "a phrase", word^2 and -word have the meaning they '
        "have in Lucene.",
    )


class Sparse:
    """Ranks by BM25 alone; any of the question's words may match."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        with trace.timed("sparse"):
            words = parse_lucene(query.text) if self._config.syntax == "lucene" else None
            found = await search_text(backends, query, snapshot, count_candidates(query), words)
        ranking = Ranking(chunks=found.chunks, scores=found.scores, sparse=found.scores, unknown=found.unknown)
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        return await build_result(ranking, query, snapshot, backends, trace)


def build(config: Config, backends: RetrievalBackends) -> Sparse:
    return Sparse(config, backends)

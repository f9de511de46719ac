"""The pool of `fused`, ranked again by how its best passages lead to the others; without any model call."""

import asyncio

from pydantic import Field

from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.bridged.gathering import gather
from retrieval.bridged.ranker import SHIPPED, load_ranker
from retrieval.results import Ranking, result_of
from retrieval.walk import WalkConfig

__all__ = ["Bridged", "Config", "build"]


class Config(WalkConfig):
    """Which trained ranker weighs the features."""

    ranker: str = Field(
        default=SHIPPED[0],
        description="`full`, `six` (six weights that can be read), or a file that `hopweave train-ranker` has written.",
    )


class Bridged:
    """Falls back to the order of stage 1 where no name leads from one candidate to another."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._backends = backends
        self._ranker = load_ranker(config.ranker)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        backends = self._backends
        snapshot = await backends.snapshots.get(query.corpus.id, min_generation=query.min_generation, trace=trace)
        pool, evidence = await gather(backends, query, snapshot, trace, self._config)
        if not len(pool.walked.entities):
            trace.note("graph: the question names no entity of the corpus; PageRank has nothing to start from")
        if evidence.links.any.any():
            with trace.timed("rank"):
                scores = await asyncio.to_thread(self._ranker.rank, evidence)
        else:
            trace.note("bridged: no name leads from one candidate to another; ranked as `fused` ranks")
            scores = evidence.stage1
        ranking = Ranking(chunks=pool.chunks, scores=scores, dense=pool.dense, sparse=pool.sparse, graph=pool.graph)
        return await result_of(ranking, query, snapshot, backends, trace, pool.walked)


def build(config: Config, backends: Backends) -> Bridged:
    return Bridged(config, backends)

"""Stage 1 of `bridged`: the pool, ranked as by `fused`, and its evidence. Searching and training share it."""

from core.execution.threads import compute
from core.ports.retrieval import Query
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.bridged.evidence import PoolEvidence, compute_evidence
from retrieval.candidates.fusion import fuse
from retrieval.candidates.pool import Pool, gather_pool
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import PageRankConfig

__all__ = ["EXPONENT", "POOL", "WEIGHTS", "evaluate_pool", "gather_evidence", "gather_stage1"]

POOL = 100
"""The least number of candidates that each signal adds to the pool."""

WEIGHTS = (1.0, 0.3, 1.0)
EXPONENT = 0.25
"""`WEIGHTS` and `EXPONENT` are the defaults of `fused`, which the shipped rankers were trained with."""


async def gather_stage1(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, pagerank_config: PageRankConfig
) -> Pool:
    """Returns the pool with vectors; a `query.k` above `POOL` makes it larger."""
    size = max(POOL, query.k)
    return await gather_pool(
        backends, query, snapshot, trace, size=size, pagerank_config=pagerank_config, with_vectors=True
    )


async def gather_evidence(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, pagerank_config: PageRankConfig
) -> tuple[Pool, PoolEvidence]:
    """Returns the pool of the question, and all that the features need."""
    pool = await gather_stage1(backends, query, snapshot, trace, pagerank_config)
    return pool, await compute(evaluate_pool, pool, query, snapshot)


def evaluate_pool(pool: Pool, query: Query, snapshot: GraphSnapshot) -> PoolEvidence:
    """Returns the evidence of a pool. It computes for milliseconds, so it is called in a thread."""
    stage1 = fuse(pool.dense, pool.sparse, pool.graph, weights=WEIGHTS, exponent=EXPONENT)
    return compute_evidence(pool, stage1, query.text, snapshot, snapshot.graph(query.documents))

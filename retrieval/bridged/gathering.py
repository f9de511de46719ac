"""From a question to its evidence: stage 1, and all that bridged ranking looks at. Searching and training share it."""

import asyncio

from core.ports.retrieval import Query
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.bridged.evidence import Evidence, gather_evidence
from retrieval.fusion import mixed
from retrieval.pool import Pool, gather_pool
from retrieval.snapshot import Snapshot
from retrieval.walk import WalkConfig

__all__ = ["POOL", "gather"]

POOL = 100
"""How many candidates each signal puts forward, at least."""

_WEIGHTS, _EXPONENT = (
    (1.0, 0.3, 1.0),
    0.25,
)  # the mix of `fused` by default, which the shipped rankers were trained over


async def gather(
    backends: Backends, query: Query, snapshot: Snapshot, trace: Trace, walking: WalkConfig
) -> tuple[Pool, Evidence]:
    """The candidates of the question, with all that the features need; `query.k` more than the pool widen it."""
    size = max(POOL, query.k)
    pool = await gather_pool(backends, query, snapshot, trace, size=size, walking=walking, with_vectors=True)
    with trace.timed("features"):
        evidence = await asyncio.to_thread(_evidence, pool, query, snapshot)
    return pool, evidence


def _evidence(pool: Pool, query: Query, snapshot: Snapshot) -> Evidence:
    stage1 = mixed(pool.dense, pool.sparse, pool.graph, weights=_WEIGHTS, exponent=_EXPONENT)
    return gather_evidence(pool, stage1, query.text, snapshot, snapshot.graph(query.documents))

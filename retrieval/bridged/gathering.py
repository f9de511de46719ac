"""From a question to its evidence: stage 1, and all that bridged ranking looks at. Searching and training share it."""

import asyncio

from core.ports.retrieval import Query
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.bridged.evidence import Evidence, gather_evidence
from retrieval.candidates.fusion import mixed
from retrieval.candidates.pool import Pool, gather_pool
from retrieval.graph.snapshot import Snapshot
from retrieval.graph.walk import WalkConfig

__all__ = ["EXPONENT", "POOL", "WEIGHTS", "candidates", "evidence_of", "gather"]

POOL = 100
"""How many candidates each signal puts forward, at least."""

WEIGHTS = (1.0, 0.3, 1.0)
EXPONENT = 0.25
"""The mix of `fused` by default, which the shipped rankers were trained over."""


async def candidates(backends: Backends, query: Query, snapshot: Snapshot, trace: Trace, walking: WalkConfig) -> Pool:
    """The pool of stage 1, with vectors; a `query.k` beyond it widens it."""
    size = max(POOL, query.k)
    return await gather_pool(backends, query, snapshot, trace, size=size, walking=walking, with_vectors=True)


async def gather(
    backends: Backends, query: Query, snapshot: Snapshot, trace: Trace, walking: WalkConfig
) -> tuple[Pool, Evidence]:
    """The candidates of the question, with all that the features need."""
    pool = await candidates(backends, query, snapshot, trace, walking)
    return pool, await asyncio.to_thread(evidence_of, pool, query, snapshot)


def evidence_of(pool: Pool, query: Query, snapshot: Snapshot) -> Evidence:
    """Takes milliseconds of computing: not for the event loop."""
    stage1 = mixed(pool.dense, pool.sparse, pool.graph, weights=WEIGHTS, exponent=EXPONENT)
    return gather_evidence(pool, stage1, query.text, snapshot, snapshot.graph(query.documents))

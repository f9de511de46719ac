"""A question to ranked chunks: dense, sparse, graph (Personalized PageRank), their fusion, and bridged ranking over it.

The searchers are the modules of `retrieval.searchers`; `core.strategies` builds them over `RetrievalBackends`.
"""

from retrieval.backends import RetrievalBackends, WebAccess
from retrieval.bridged import trees
from retrieval.graph.snapshot_cache import SnapshotCache
from retrieval.pagerank import forward_push

__all__ = ["SEARCHERS", "RetrievalBackends", "SnapshotCache", "WebAccess", "warm"]


SEARCHERS = "retrieval.searchers"
"""The package that `core.strategies` looks for searchers in."""


def warm() -> None:
    """Compile (or load) what searches run, so that no question waits for it."""
    forward_push.warm()
    trees.warm()

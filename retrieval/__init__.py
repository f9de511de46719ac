"""A question to ranked chunks: dense, sparse, graph (Personalized PageRank), their fusion, and bridged ranking over it.

The searchers are the modules of `retrieval.searchers`; `core.strategies` builds them over `Backends`.
"""

from retrieval.backends import Backends, WebAccess
from retrieval.bridged import trees
from retrieval.graph import push
from retrieval.graph.snapshot_cache import SnapshotCache

__all__ = ["SEARCHERS", "Backends", "SnapshotCache", "WebAccess", "warm"]


SEARCHERS = "retrieval.searchers"
"""The package that `core.strategies` looks for searchers in."""


def warm() -> None:
    """Compile (or load) what searches run, so that no question waits for it."""
    push.warm()
    trees.warm()

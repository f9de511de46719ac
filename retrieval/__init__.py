"""A question to ranked chunks: dense, sparse, graph (Personalized PageRank), and their fusion.

The searchers are the modules of `retrieval.searchers`; `core.strategies` builds them over `Backends`.
"""

from retrieval.backends import Backends
from retrieval.push import warm
from retrieval.snapshot_cache import SnapshotCache

__all__ = ["SEARCHERS", "Backends", "SnapshotCache", "warm"]

SEARCHERS = "retrieval.searchers"
"""The package that `core.strategies` looks for searchers in."""

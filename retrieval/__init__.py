"""Retrieval: from a question to ranked chunks. Open it to see what other packages may import from here.

Searchers are the modules of `retrieval.searchers`; `core.strategies` builds them over `RetrievalBackends`. The folders
build on one another: `graph` (snapshots in memory), `pagerank`, `candidates` (what the views find, and the pool),
`bridged` and `hippo` (parts of these two searchers), `exploration` (entities, for people), `searchers`.
"""

from retrieval.across_corpora import AcrossCorpora
from retrieval.backends import RetrievalBackends, WebAccess
from retrieval.bridged import ranker
from retrieval.cut_tables import NamesColumns
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.graph.snapshot_cache import SnapshotCache
from retrieval.graph.snapshot_files import SnapshotFiles
from retrieval.graph.terms import count_passages
from retrieval.pagerank import forward_push
from retrieval.surveying import SnapshotDocumentFinder

__all__ = [
    "SEARCHERS",
    "AcrossCorpora",
    "GraphSnapshot",
    "NamesColumns",
    "RetrievalBackends",
    "SnapshotCache",
    "SnapshotDocumentFinder",
    "SnapshotFiles",
    "WebAccess",
    "count_passages",
    "warm",
]


SEARCHERS = "retrieval.searchers"
"""The package in which `core.strategies` looks for searchers."""


def warm() -> None:
    """Compiles the kernels of searchers, or loads them from numba's cache, so that no question waits for it."""
    forward_push.warm()
    ranker.warm()

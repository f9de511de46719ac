"""What searchers are built over."""

from dataclasses import dataclass

from core.ports.embedding import Embedder
from core.ports.record import Library
from core.ports.views import TextIndex, VectorStore
from retrieval.snapshot_cache import SnapshotCache

__all__ = ["Backends"]


@dataclass(frozen=True, kw_only=True)
class Backends:
    """The ports that retrieval needs; the container fills them."""

    vectors: VectorStore
    text: TextIndex
    library: Library
    snapshots: SnapshotCache
    embedder: Embedder

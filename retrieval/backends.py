"""The ports that searchers are built over. Open it when a searcher needs a further port."""

from collections.abc import Callable
from dataclasses import dataclass

from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.record import Contents, Documents, GraphSchemas
from core.ports.retrieval import Reranker, Searcher, WebSearch
from core.ports.views import TextIndex, VectorStore
from core.strategies import StrategySpec
from retrieval.graph.snapshot_cache import SnapshotCache


@dataclass(frozen=True, kw_only=True)
class WebAccess:
    """A web search, and whether it may see private queries.

    `after_private` also permits queries whose writer was shown passages of the corpus (`Query.private`).
    """

    search: WebSearch
    after_private: bool = False


@dataclass(frozen=True, kw_only=True)
class RetrievalBackends:
    """The ports that searchers use; the container fills them. A port that is None is not configured.

    `searchers` builds a searcher by its specification, for searchers that wrap another searcher.
    """

    vectors: VectorStore
    text: TextIndex
    documents: Documents
    contents: Contents
    snapshots: SnapshotCache
    embedder: Embedder
    models: ChatModels | None = None
    reranker: Reranker | None = None
    web: WebAccess | None = None
    schemas: GraphSchemas | None = None
    searchers: Callable[[StrategySpec], Searcher] | None = None

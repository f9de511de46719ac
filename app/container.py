"""The composition root: the only place where adapters meet strategies."""

from functools import cached_property
from pathlib import Path

import retrieval
from app.bell import Bell
from core.corpora import Corpus
from core.errors import EmbeddingMismatch
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.reasoning import Reasoner
from core.ports.record import Record
from core.ports.retrieval import Searcher
from core.ports.views import TextIndex, VectorStore
from core.settings import Settings
from core.strategies import StrategySpec, build
from indexer.backends import Backends as IndexingBackends
from models import make_embedder
from reasoning import REASONERS
from reasoning import Backends as ReasoningBackends
from retrieval import Backends as RetrievalBackends
from retrieval import SnapshotCache
from stores.files import FolderFileStore
from stores.sqlite import SqliteRecord, SqliteVectorStore
from stores.tantivy import TantivyTextIndex

__all__ = ["Container"]


class Container:
    """Makes each part once, when it is first asked for. `close` ends what was made."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._closers: list[SqliteRecord | SqliteVectorStore | TantivyTextIndex | Embedder] = []

    @cached_property
    def record(self) -> Record:
        record = SqliteRecord(self.settings.data_dir / "record.db")
        self._closers.append(record)
        return record

    @cached_property
    def vectors(self) -> VectorStore:
        vectors = SqliteVectorStore(self.settings.data_dir / "vectors.db")
        self._closers.append(vectors)
        return vectors

    @cached_property
    def text(self) -> TextIndex:
        text = TantivyTextIndex(self.settings.data_dir / "text")
        self._closers.append(text)
        return text

    @cached_property
    def files(self) -> FileStore:
        url = self.settings.files.url
        return FolderFileStore(Path(url) if url else self.settings.data_dir / "files")

    @cached_property
    def embedder(self) -> Embedder:
        embedder = make_embedder(self.settings.embedding)
        self._closers.append(embedder)
        return embedder

    @cached_property
    def bell(self) -> Bell:
        return Bell(self.settings)

    @cached_property
    def snapshots(self) -> SnapshotCache:
        return SnapshotCache(self.record.graph)

    @cached_property
    def indexing(self) -> IndexingBackends:
        return IndexingBackends(
            corpora=self.record.corpora,
            work=self.record.work,
            library=self.record.library,
            vectors=self.vectors,
            text=self.text,
            files=self.files,
            embedder=self.embedder,
        )

    @cached_property
    def searching(self) -> RetrievalBackends:
        return RetrievalBackends(
            vectors=self.vectors,
            text=self.text,
            library=self.record.library,
            snapshots=self.snapshots,
            embedder=self.embedder,
        )

    def searcher(self, spec: StrategySpec) -> Searcher:
        searcher: Searcher = build(retrieval.SEARCHERS, spec, "searcher", self.searching)
        return searcher

    def reasoner(self, spec: StrategySpec, searcher: StrategySpec) -> Reasoner:
        backends = ReasoningBackends(searcher=self.searcher(searcher), embedder=self.embedder)
        reasoner: Reasoner = build(REASONERS, spec, "reasoner", backends)
        return reasoner

    def check_embedding(self, corpus: Corpus) -> None:
        """Refuse to mix vectors of two models in one corpus."""
        there, here = corpus.settings.embedding_model, self.embedder.model
        if there != here:
            raise EmbeddingMismatch(
                f"corpus {corpus.name!r} was built with the embedding model {there!r}, and {here!r} is configured: "
                f"set HOPWEAVE_EMBEDDING__MODEL back, or ingest the documents into a new corpus"
            )

    async def close(self) -> None:
        for closer in reversed(self._closers):
            await closer.close()
        self._closers.clear()

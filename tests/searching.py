"""A corpus over the embedded stores in a folder, and the contract of searchers on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.corpora import CorpusSettings, Fine
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.retrieval import Reranker, Searcher
from core.strategies import StrategySpec, build
from retrieval import SEARCHERS, RetrievalBackends, SnapshotCache, SnapshotFiles
from retrieval.backends import WebAccess
from retrieval.graph.snapshot_files import FilePolicy
from stores.sqlite.record import SqliteRecord
from stores.sqlite.vectors import SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from testing.contracts.searcher import OpenCorpus, SearcherContract
from testing.indexed_corpus import IndexedCorpus
from tests.twins.embedder import TwinEmbedder

__all__ = ["AT_ONCE", "NamedSearcherContract", "World", "open_world"]


AT_ONCE = FilePolicy(least_chunks=0, idle_seconds=0, lacking_seconds=0, pause_seconds=0)
"""Every snapshot is written to a file at once."""


@dataclass(kw_only=True)
class World(IndexedCorpus):
    """One corpus over SQLite and tantivy in a folder."""

    backends: RetrievalBackends

    def searcher(self, name: str, **options: Any) -> Searcher:
        searcher: Searcher = build(SEARCHERS, StrategySpec(name=name, options=options), "searcher", self.backends)
        return searcher


@asynccontextmanager
async def open_world(
    folder: Path,
    embedder: Embedder | None = None,
    *,
    interval: float = 0.0,
    patience: float = 5.0,
    fine: Fine = Fine.OFF,
    models: ChatModels | None = None,
    reranker: Reranker | None = None,
    web: WebAccess | None = None,
    asserting: bool = False,
    mapped: bool = False,
) -> AsyncIterator[World]:
    """By default snapshots follow every write at once, so that no test depends on time.

    With `mapped`, each snapshot is written to a file at once, however small, and replaced by that.
    """
    embedder = embedder or TwinEmbedder(dimension=256)
    record = SqliteRecord(folder / "record.sqlite")
    vectors, text = SqliteVectorStore(folder / "vectors.sqlite"), TantivyTextIndex(folder / "text")
    settings = CorpusSettings(
        chunker="passage", extractor="pattern", fine=fine, embedding_model=embedder.model, dimension=embedder.dimension
    )
    backends = RetrievalBackends(
        vectors=vectors,
        text=text,
        documents=record.documents,
        contents=record.contents,
        snapshots=SnapshotCache(
            record.graph,
            files=SnapshotFiles(record.graph, folder / "snapshots", AT_ONCE) if mapped else None,
            interval=interval,
            patience=patience,
        ),
        embedder=embedder,
        models=models,
        reranker=reranker,
        web=web,
        searchers=lambda spec: build(SEARCHERS, spec, "searcher", backends),
    )
    corpus = await record.corpora.create("world", settings)
    try:
        yield World(
            record=record,
            vectors=vectors,
            text=text,
            embedder=embedder,
            backends=backends,
            corpus=corpus,
            asserting=asserting,
        )
    finally:
        await backends.snapshots.close()
        await record.close()
        await vectors.close()
        await text.close()
        if reranker is not None:
            await reranker.close()
        if web is not None:
            await web.search.close()


class NamedSearcherContract(SearcherContract):
    """Subclasses name the searcher and its options."""

    name: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to

    def searcher_of(self, world: IndexedCorpus) -> Searcher:
        assert isinstance(world, World)
        return world.searcher(self.name, **self.options)

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        """What `open_world` is given beside the folder: backends that this searcher needs."""
        return {}

    @pytest.fixture
    def opens(self, tmp_path: Path, parts: dict[str, Any]) -> OpenCorpus:
        return lambda interval: open_world(tmp_path, interval=interval, **parts)

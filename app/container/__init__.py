"""The composition root: the only place where adapters meet strategies."""

from functools import cached_property
from pathlib import Path
from typing import Protocol

import retrieval
from app.broker.notifier import Bell
from app.services.model_roles import check_roles
from app.services.trails import TrailWriter
from core.corpora import Corpus
from core.errors import EmbeddingMismatch
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.reasoning import Reasoner
from core.ports.record import Record
from core.ports.reranking import Reranker
from core.ports.retrieval import Searcher
from core.ports.views import TextIndex, VectorStore
from core.settings import Settings
from core.strategies import StrategySpec, build, parse_spec
from indexer.backends import IndexingBackends
from models import RecordCache, make_chat_models, make_embedder
from models.rerankers.choice import make_reranker
from reasoning import REASONERS, ReasoningBackends
from retrieval import RetrievalBackends, SnapshotCache, WebAccess
from stores.files import make_file_store
from stores.milvus import MilvusIndex, MilvusVectorStore
from stores.neo4j import Connection, Neo4jRecord, Neo4jTextIndex, Neo4jTrails
from stores.sqlite import SqliteModelCache, SqliteRecord, SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from stores.web import make_web_search

__all__ = ["Container"]


class _Closing(Protocol):
    async def close(self) -> None: ...


class Container:
    """Makes each part once, when it is first asked for. `close` ends what was made."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._closers: list[_Closing] = []

    @cached_property
    def record(self) -> Record:
        record = self._neo4j_record if self.settings.on_servers else SqliteRecord(self.settings.data_dir / "record.db")
        self._closers.append(record)
        return record

    @cached_property
    def _neo4j(self) -> Connection:
        settings = self.settings.neo4j
        return Connection(settings.uri, settings.user, settings.password.get_secret_value(), settings.database)

    @cached_property
    def _neo4j_record(self) -> Neo4jRecord:
        return Neo4jRecord(self._neo4j)

    @cached_property
    def trails(self) -> TrailWriter | None:
        """None where answers leave no trail."""
        if not self.settings.trails.enabled:
            return None
        trails = TrailWriter(Neo4jTrails(self._neo4j_record.database, self.settings.trails.days))
        _ = self.record  # is closed after what writes to it
        self._closers.append(trails)
        return trails

    @cached_property
    def vectors(self) -> VectorStore:
        vectors = self._milvus() if self.settings.store.vectors == "milvus" else self._vectors_in_folder()
        self._closers.append(vectors)
        return vectors

    def _vectors_in_folder(self) -> SqliteVectorStore:
        return SqliteVectorStore(self.settings.data_dir / "vectors.db")

    def _milvus(self) -> MilvusVectorStore:
        settings = self.settings.milvus
        build = {"M": settings.hnsw.m, "efConstruction": settings.hnsw.ef_construction}
        index = MilvusIndex(
            kind=settings.index,
            build=build if settings.index == "HNSW" else {},
            search={"ef": settings.hnsw.ef},  # for FLAT, too: collections that were made before have their own index
        )
        token = settings.token.get_secret_value()
        return MilvusVectorStore(settings.uri, token, index=index, exact_rows=settings.exact_rows)

    @cached_property
    def text(self) -> TextIndex:
        if self.settings.on_servers:
            return Neo4jTextIndex(self._neo4j_record.database)
        text = TantivyTextIndex(self.settings.data_dir / "text")
        self._closers.append(text)
        return text

    @cached_property
    def files(self) -> FileStore:
        return make_file_store(self.settings.files.url, self.settings.data_dir / "files")

    @cached_property
    def embedder(self) -> Embedder:
        embedder = make_embedder(self.settings.embedding)
        self._closers.append(embedder)
        return embedder

    @cached_property
    def models(self) -> ChatModels | None:
        """None where no language model is configured, in general or for a role. Raises `InvalidSettings`."""
        llm = self.settings.llm
        check_roles(llm)
        if not llm.model and not any(role.model for role in llm.roles.values()):
            return None
        cache = SqliteModelCache(self._kept_answers) if llm.cache else None
        models = make_chat_models(self.settings.llm, cache, self.record.graph)
        self._closers += [cache, models] if cache else [models]
        return models

    async def forget_removed(self, corpus_id: str) -> None:
        """Forget the kept answers of models that were made of what has left a corpus (or of a corpus that is gone),
        whether or not answers are kept now.
        """
        if self._kept_answers.exists():
            await self._following.follow(corpus_id)

    @property
    def _kept_answers(self) -> Path:
        return self.settings.data_dir / "model-cache.db"

    @cached_property
    def _following(self) -> RecordCache:
        following = RecordCache(SqliteModelCache(self._kept_answers), self.record.graph)
        self._closers.append(following)
        return following

    @cached_property
    def reranker(self) -> Reranker | None:
        reranker = make_reranker(self.settings.reranker)
        self._closers += [reranker] if reranker else []
        return reranker

    @cached_property
    def web(self) -> WebAccess | None:
        search = make_web_search(self.settings.web)
        if search is None:
            return None
        self._closers.append(search)
        return WebAccess(search=search, after_private=self.settings.web.after_private)

    @cached_property
    def bell(self) -> Bell:
        bell = Bell(self.settings)
        self._closers.append(bell)
        return bell

    @cached_property
    def snapshots(self) -> SnapshotCache:
        return SnapshotCache(self.record.graph)

    @cached_property
    def indexing(self) -> IndexingBackends:
        return IndexingBackends(
            corpora=self.record.corpora,
            jobs=self.record.jobs,
            reindexing=self.record.reindexing,
            submissions=self.record.submissions,
            claims=self.record.claims,
            staging=self.record.staging,
            commits=self.record.commits,
            tombstones=self.record.tombstones,
            maintenance=self.record.maintenance,
            documents=self.record.documents,
            contents=self.record.contents,
            vectors=self.vectors,
            text=self.text,
            files=self.files,
            embedder=self.embedder,
            models=self.models,
        )

    @cached_property
    def searching(self) -> RetrievalBackends:
        return RetrievalBackends(
            vectors=self.vectors,
            text=self.text,
            documents=self.record.documents,
            contents=self.record.contents,
            snapshots=self.snapshots,
            embedder=self.embedder,
            models=self.models,
            reranker=self.reranker,
            web=self.web,
            searchers=self.searcher,
        )

    def searcher(self, spec: StrategySpec) -> Searcher:
        searcher: Searcher = build(retrieval.SEARCHERS, spec, "searcher", self.searching)
        return searcher

    @property
    def default_searcher(self) -> StrategySpec:
        return parse_spec(self.settings.searcher)

    @property
    def default_reasoner(self) -> StrategySpec:
        """The one of the settings, else `auto` where a model is configured."""
        return parse_spec(self.settings.reasoner or ("auto" if self.settings.llm.model else "extractive"))

    def reasoner(self, spec: StrategySpec, searcher: StrategySpec | None = None) -> Reasoner:
        """Over the searcher that was chosen for it, else the default one."""
        chosen = searcher or self.default_searcher
        backends = ReasoningBackends(
            searcher=self.searcher(chosen),
            embedder=self.embedder,
            models=self.models,
            reranker=self.reranker,
            searchers=self.searcher,
            searcher_name=chosen.name,
            searcher_chosen=searcher is not None,
            web_configured=self.web is not None,
        )
        reasoner: Reasoner = build(REASONERS, spec, "reasoner", backends)
        return reasoner

    def check_embedding(self, corpus: Corpus) -> None:
        """Refuse to mix vectors of two models in one corpus."""
        there, here = corpus.settings.embedding_model, self.embedder.model
        if there != here:
            raise EmbeddingMismatch(
                f"corpus {corpus.name!r} was built with the embedding model {there!r}, and {here!r} is configured: "
                f"set HOPWEAVE_EMBEDDING__MODEL back, or build it anew with `hopweave corpora reindex {corpus.name}`"
            )

    async def close(self) -> None:
        for closer in reversed(self._closers):
            await closer.close()
        self._closers.clear()

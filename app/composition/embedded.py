"""The embedded composition: one data folder, which one worker process writes. Vectors may be in Milvus instead."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.composition.composition import Check, ClosableVectorStore, Schema
from app.supervision.folder_lock import FolderLock
from app.supervision.folder_supervision import FolderSupervision, supervise_until_signal
from core.ports.views import VectorKind
from core.settings import Settings

if TYPE_CHECKING:
    from app.broker.notifiers import FolderNotifier
    from stores.milvus import MilvusVectorStore
    from stores.sqlite import SqliteRecord, SqliteVectorStore
    from stores.tantivy import TantivyTextIndex


class EmbeddedComposition:
    """SQLite, Tantivy, and a broker of files. Serving and ingesting start the worker themselves.

    Each adapter is imported where it is made: a short command needs one of them, or none.
    """

    worker: Literal["embedded"] = "embedded"
    waits_for_servers = False
    next_worker = "with the next `hopweave ingest` or `serve`"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.data_dir

    @property
    def locked_folder(self) -> Path:
        return self._folder

    def exists(self) -> bool:
        return self._folder.exists()

    def make_record(self) -> "SqliteRecord":
        from stores.sqlite import SqliteRecord

        return SqliteRecord(self._folder / "record.db")

    def make_vectors(self) -> ClosableVectorStore:
        return self._milvus or self._sqlite_vectors

    def make_text_index(self) -> "TantivyTextIndex":
        from stores.tantivy import TantivyTextIndex

        return TantivyTextIndex(self._folder / "text")

    def make_trails(self) -> None:
        return None

    def make_notifier(self) -> "FolderNotifier":
        from app.broker.notifiers import FolderNotifier

        return FolderNotifier(self._settings)

    def server_checks(self) -> Mapping[str, Check]:
        return {}

    async def read_schema(self) -> Schema:
        from stores.sqlite import SQLITE_SCHEMA, sqlite_schema_of

        path = self._folder / "record.db"
        return Schema(record=str(path), found=await asyncio.to_thread(sqlite_schema_of, path), newest=SQLITE_SCHEMA)

    async def describe_other_indexes(self, corpus_id: str) -> Mapping[VectorKind, str]:
        if self._milvus is None:
            return {}
        from app.composition.milvus import describe_other_indexes

        return await describe_other_indexes(self._milvus, corpus_id)

    @cached_property
    def _milvus(self) -> "MilvusVectorStore | None":
        """The store of vectors, if it is Milvus. Its module imports pymilvus, which takes half a second."""
        if self._settings.store.vectors != "milvus":
            return None
        from app.composition.milvus import make_milvus_vectors

        return make_milvus_vectors(self._settings.milvus)

    async def measure_recall(self, corpus_id: str) -> Mapping[VectorKind, float]:
        if self._milvus is not None:
            return {}
        measured = {kind: await self._sqlite_vectors.measure_recall(corpus_id, kind) for kind in VectorKind}
        return {kind: recall for kind, recall in measured.items() if recall is not None}

    async def clean_vector_files(self) -> int:
        return 0 if self._milvus is not None else await self._sqlite_vectors.clean_files()

    @cached_property
    def _sqlite_vectors(self) -> "SqliteVectorStore":
        from stores.sqlite import SqliteVectorStore
        from stores.sqlite.vectors import BasePolicy

        policy = BasePolicy(exact_rows=self._settings.store.exact_vectors)
        return SqliteVectorStore(self._folder / "vectors.db", policy=policy)

    def lock_views(self) -> AbstractContextManager[object]:
        return FolderLock(self._folder)

    def supervise(self) -> FolderSupervision:
        return FolderSupervision(self._settings)

    def run_workers(self, concurrency: int, report: Callable[[str], None]) -> bool:
        supervise_until_signal(self._settings, concurrency, report)
        return True

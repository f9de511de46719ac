"""`RestrictedContainer` and `RestrictedRecord`: the container and the record as the caller of one request may use them.

All routes read and write through the record. `RestrictedSnapshots` is the graph of a corpus as the holder of a key with
a filter sees it.
"""

import asyncio
from collections.abc import Set
from dataclasses import replace
from functools import cached_property, partial

from app.access.access import Access, Meter, MeteredModels
from app.access.corpora import (
    RestrictedCertificates,
    RestrictedContents,
    RestrictedCorpora,
    RestrictedDocuments,
    RestrictedMerges,
    RestrictedResolution,
    RestrictedSchemas,
)
from app.access.exporter import RestrictedExporter
from app.access.submissions import MeteredSubmissions, RestrictedJobs, RestrictedQuestions, RestrictedSubmissions
from app.broker.notifier import Notifier
from app.container import Container
from app.container.container import RequestLimits, Watch
from app.container.embedders import Embedders
from app.container.trail_writer import TrailWriter
from core.documents import Document, matches
from core.execution.limits import FairSlots
from core.filters import DocumentFilter
from core.keys import Scope
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import (
    Record,
)
from core.ports.retrieval import Reranker
from core.ports.views import TextIndex, VectorStore
from core.trace import Trace
from retrieval import GraphSnapshot, SnapshotCache, WebAccess


class _RestrictedRecord(Record):
    """The record for one request.

    What workers, imports and caches use is not restricted: routes reach it only with ids that they were given here.
    """

    def __init__(self, record: Record, access: Access, meter: Meter) -> None:
        own = record.for_key(access.key, access.where)
        self._record, self._access, self._meter = own, access, meter
        is_operator = access.has(Scope.ADMIN) and not access.is_restricted
        self.corpora = RestrictedCorpora(own.corpora, access)
        self.jobs = RestrictedJobs(own.jobs, own.corpora, access) if access.is_restricted else own.jobs
        self.merges = RestrictedMerges(own.merges, access)
        self.resolution = RestrictedResolution(own.resolution, access)
        self.graph_schemas = RestrictedSchemas(own.graph_schemas, access)
        self.certificates = RestrictedCertificates(own.certificates, access)
        self.questions = RestrictedQuestions(own.questions, access.asker, also_unnamed=is_operator)
        self._show_documents(own)
        self.reindexing, self.graph, self.keys = own.reindexing, own.graph, own.keys
        self.claims, self.staging, self.commits = own.claims, own.staging, own.commits
        self.tombstones, self.maintenance, self.receipts = own.tombstones, own.maintenance, own.receipts

    def _show_documents(self, own: Record) -> None:
        access, where = self._access, self._access.where
        if where is None:
            self.documents, self.contents, self.exporter = own.documents, own.contents, own.exporter
            self.submissions = MeteredSubmissions(own.submissions, self._meter)
            return
        documents = RestrictedDocuments(own.documents, access, where)
        self.documents = documents
        self.contents = RestrictedContents(own.contents, documents)
        self.exporter = RestrictedExporter(own.exporter, documents)
        self.submissions = RestrictedSubmissions(own.submissions, self._meter, access, documents, where)

    def for_key(self, key: str | None, where: DocumentFilter | None = None) -> Record:
        own = self._access.filter
        both = own if where is None else where if own is None else own.join(where)
        return _RestrictedRecord(self._record, replace(self._access, key=key, filter=both), self._meter)

    async def check(self) -> str:
        return await self._record.check()

    async def close(self) -> None:
        """Does nothing: the record belongs to the process, not to one request."""


class _RestrictedSnapshots(SnapshotCache):
    """Shares the snapshots of all requests. A merge counts only if the documents that may be seen name both entities.

    The snapshots have rows of other documents; their readers select the rows of a search's documents.
    """

    def __init__(self, whole: SnapshotCache, documents: RestrictedDocuments) -> None:
        self._whole = whole
        self._documents = documents

    async def get(
        self, corpus_id: str, *, min_generation: int | None = None, trace: Trace | None = None
    ) -> GraphSnapshot:
        found = await self._whole.get(corpus_id, min_generation=min_generation, trace=trace)
        return await self._restrict(corpus_id, found)

    async def is_current(self, corpus_id: str, snapshot: GraphSnapshot) -> bool:
        return await self._whole.is_current(corpus_id, snapshot)

    async def follow(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot | None:
        found = await self._whole.follow(corpus_id, snapshot)
        return None if found is None else await self._restrict(corpus_id, found)

    def compare_again(self, corpus_id: str) -> None:
        self._whole.compare_again(corpus_id)

    def evict(self, corpus_id: str) -> None:
        self._whole.evict(corpus_id)

    async def _restrict(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot:
        if not snapshot.merges:
            return snapshot
        return await asyncio.to_thread(snapshot.restrict_merges, await self._documents.readable(corpus_id))


class RestrictedContainer(Container):
    """Shares all parts of a container, and shows its record as the caller may see it. It need not be closed.

    Strategies are built over the restricted record, so that a passage which the caller may not see cannot be fetched
    even if a view names it.
    """

    def __init__(self, whole: Container, access: Access, meter: Meter, caller: str = "") -> None:
        """`caller` is the id of the key, which shares the lanes of parsing with all others."""
        self._whole = whole
        self.access = access
        self._meter = meter
        self.settings = whole.settings
        self.prompts = whole.prompts
        self.loaders = whole.loaders
        self.page_images = whole.page_images
        self.page_lane = whole.page_lane
        self.estimate_lane = whole.estimate_lane
        self.caller = caller
        self.composition = whole.composition
        self._closers = []

    @cached_property
    def record(self) -> Record:
        return _RestrictedRecord(self._whole.record, self.access, self._meter)

    @cached_property
    def making(self) -> FairSlots:
        return self._whole.making

    @property
    def limits(self) -> RequestLimits:
        api = self.settings.api
        return RequestLimits(k=api.max_k, depth=api.max_depth, history=api.max_history)

    @property
    def sees_all_documents(self) -> bool:
        return self.access.where is None

    async def check_kept(self, corpus_id: str, document_ids: Set[str]) -> None:
        if isinstance(documents := self.record.documents, RestrictedDocuments):
            await documents.check_kept(corpus_id, document_ids)

    async def open_watch(self, corpus_id: str) -> Watch | None:
        documents = self.record.documents
        if not isinstance(documents, RestrictedDocuments):
            return None
        return partial(documents.watch_kept, self.record.corpora, corpus_id, await documents.readable(corpus_id))

    @property
    def whole_record(self) -> Record:
        return self._whole.record

    def sees(self, document: Document) -> bool:
        return self.access.where is None or matches(self.access.where, document)

    async def check_tokens(self) -> None:
        await self._meter.check_tokens()

    def add_tokens(self, count: int) -> None:
        self._meter.add_tokens(count)

    async def delete_cached_answers(self, corpus_id: str) -> None:
        await self._whole.delete_cached_answers(corpus_id)

    @cached_property
    def trails(self) -> TrailWriter | None:
        return self._whole.trails

    @cached_property
    def vectors(self) -> VectorStore:
        return self._whole.vectors

    @cached_property
    def text(self) -> TextIndex:
        return self._whole.text

    @cached_property
    def files(self) -> FileStore:
        return self._whole.files

    @cached_property
    def embedder(self) -> Embedder:
        return self._whole.embedder

    @cached_property
    def embedders(self) -> Embedders:
        return self._whole.embedders

    @cached_property
    def models(self) -> ChatModels | None:
        models = self._whole.models
        return None if models is None else MeteredModels(models, self._meter)

    @cached_property
    def reranker(self) -> Reranker | None:
        return self._whole.reranker

    @cached_property
    def web(self) -> WebAccess | None:
        return self._whole.web

    @cached_property
    def notifier(self) -> Notifier:
        return self._whole.notifier

    @cached_property
    def snapshots(self) -> SnapshotCache:
        documents, whole = self.record.documents, self._whole.snapshots
        return _RestrictedSnapshots(whole, documents) if isinstance(documents, RestrictedDocuments) else whole

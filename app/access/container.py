"""`RestrictedContainer`: the container as the caller of one request may use it."""

from functools import cached_property

from app.access.access import Access
from app.access.documents import RestrictedDocuments
from app.access.models import Meter, MeteredModels
from app.access.record import RestrictedRecord
from app.access.snapshots import RestrictedSnapshots
from app.broker.notifier import Notifier
from app.container import Container
from app.container.container import RequestLimits
from app.container.embedders import Embedders
from app.container.trail_writer import TrailWriter
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import Record
from core.ports.retrieval import Reranker
from core.ports.views import TextIndex, VectorStore
from retrieval import SnapshotCache, WebAccess

__all__ = ["RestrictedContainer"]


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
        return RestrictedRecord(self._whole.record, self.access, self._meter)

    @property
    def limits(self) -> RequestLimits:
        api = self.settings.api
        return RequestLimits(k=api.max_k, depth=api.max_depth, history=api.max_history)

    @property
    def sees_all_documents(self) -> bool:
        return self.access.where is None

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
        return RestrictedSnapshots(whole, documents) if isinstance(documents, RestrictedDocuments) else whole

"""`RestrictedRecord`: the record as the holder of a key sees it. All routes read and write through it."""

from functools import cached_property

from app.access.access import Access
from app.access.corpora import KeyedReindexing, RestrictedCorpora, RestrictedExporter, RestrictedMerges
from app.access.documents import RestrictedContents, RestrictedDocuments
from app.access.jobs import RestrictedJobs
from app.access.models import Meter
from app.access.questions import RestrictedQuestions
from app.access.submissions import MeteredSubmissions, RestrictedSubmissions
from core.keys import Scope
from core.ports.record import (
    Claims,
    Commits,
    Contents,
    Corpora,
    Documents,
    EntityMerges,
    Exporter,
    GraphSource,
    Jobs,
    Keys,
    Maintenance,
    Questions,
    Receipts,
    Record,
    Reindexing,
    Staging,
    Submissions,
    Tombstones,
)

__all__ = ["RestrictedRecord"]


class RestrictedRecord:
    """Implements `core.ports.record.Record` for one request.

    What workers, imports and caches use is not restricted: routes reach it only with ids that they were given here.
    """

    def __init__(self, record: Record, access: Access, meter: Meter) -> None:
        self._record = record
        self._access = access
        self._meter = meter

    @cached_property
    def _documents(self) -> RestrictedDocuments | None:
        where = self._access.where
        return None if where is None else RestrictedDocuments(self._record.documents, where)

    @property
    def corpora(self) -> Corpora:
        return RestrictedCorpora(self._record.corpora, self._access)

    @property
    def jobs(self) -> Jobs:
        if not self._access.is_restricted:
            return self._record.jobs
        return RestrictedJobs(self._record.jobs, self._record.corpora, self._access)

    @property
    def documents(self) -> Documents:
        return self._documents or self._record.documents

    @property
    def contents(self) -> Contents:
        documents = self._documents
        return self._record.contents if documents is None else RestrictedContents(self._record.contents, documents)

    @property
    def submissions(self) -> Submissions:
        documents, where = self._documents, self._access.where
        if documents is None or where is None:
            return MeteredSubmissions(self._record.submissions, self._meter, self._access.key)
        return RestrictedSubmissions(self._record.submissions, self._meter, self._access.key, documents, where)

    @property
    def merges(self) -> EntityMerges:
        return RestrictedMerges(self._record.merges, self._access)

    @property
    def exporter(self) -> Exporter:
        documents = self._documents
        return self._record.exporter if documents is None else RestrictedExporter(self._record.exporter, documents)

    @property
    def reindexing(self) -> Reindexing:
        return KeyedReindexing(self._record.reindexing, self._access.key)

    @property
    def claims(self) -> Claims:
        return self._record.claims

    @property
    def staging(self) -> Staging:
        return self._record.staging

    @property
    def commits(self) -> Commits:
        return self._record.commits

    @property
    def tombstones(self) -> Tombstones:
        return self._record.tombstones

    @property
    def maintenance(self) -> Maintenance:
        return self._record.maintenance

    @property
    def questions(self) -> Questions:
        access = self._access
        is_operator = access.has(Scope.ADMIN) and not access.is_restricted
        return RestrictedQuestions(self._record.questions, access.asker, also_unnamed=is_operator)

    @property
    def receipts(self) -> Receipts:
        return self._record.receipts

    @property
    def keys(self) -> Keys:
        return self._record.keys

    @property
    def graph(self) -> GraphSource:
        return self._record.graph

    async def check(self) -> str:
        return await self._record.check()

    async def close(self) -> None:
        """Does nothing: the record belongs to the process, not to one request."""

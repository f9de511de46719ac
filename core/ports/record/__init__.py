"""The record: the system of record, which is never derived from another store. Several small ports over one database.

The contract: every write is idempotent; a reader sees a revision whole or not at all; the writes of a worker are fenced
by the epoch of its claim; each committed write raises the generation of the corpus and logs the change.
"""

import copy
from abc import ABC, abstractmethod
from typing import Self

from core.filters import DocumentFilter
from core.ports.record.certificates import (
    MAX_DOCUMENTS,
    Certificate,
    Certificates,
    Removal,
    RemovalKind,
    RemovedDocument,
)
from core.ports.record.commits import ChunkRow, Commit, Commits, Maintenance, Outcome, Tombstone, Tombstones
from core.ports.record.corpora import (
    Contents,
    Corpora,
    DocumentPage,
    Documents,
    Exporter,
    FactRow,
    Reindex,
    ReindexDifference,
    Reindexing,
    TripleRow,
)
from core.ports.record.graph import (
    EntityMerges,
    EntityResolution,
    GraphChanges,
    GraphChunk,
    GraphMerge,
    GraphRows,
    GraphSchemas,
    GraphSource,
)
from core.ports.record.questions import KeyMinute, Keys, Questions
from core.ports.record.queue import (
    EVERY_REVISION,
    Check,
    Claim,
    ClaimFilter,
    ClaimProgress,
    Claims,
    Deletion,
    Enqueued,
    EnqueuedDocument,
    Jobs,
    JobUsage,
    NewRevision,
    Receipts,
    StagedExtraction,
    Staging,
    Submissions,
)

__all__ = [
    "EVERY_REVISION",
    "MAX_DOCUMENTS",
    "Certificate",
    "Certificates",
    "Check",
    "ChunkRow",
    "Claim",
    "ClaimFilter",
    "ClaimProgress",
    "Claims",
    "Commit",
    "Commits",
    "Contents",
    "Corpora",
    "Deletion",
    "DocumentPage",
    "Documents",
    "Enqueued",
    "EnqueuedDocument",
    "EntityMerges",
    "EntityResolution",
    "Exporter",
    "FactRow",
    "GraphChanges",
    "GraphChunk",
    "GraphMerge",
    "GraphRows",
    "GraphSchemas",
    "GraphSource",
    "JobUsage",
    "Jobs",
    "KeyMinute",
    "Keys",
    "Maintenance",
    "NewRevision",
    "Outcome",
    "Questions",
    "Receipts",
    "Record",
    "Reindex",
    "ReindexDifference",
    "Reindexing",
    "Removal",
    "RemovalKind",
    "RemovedDocument",
    "StagedExtraction",
    "Staging",
    "Submissions",
    "Tombstone",
    "Tombstones",
    "TripleRow",
]


class Record(ABC):
    """The ports of one record together."""

    corpora: Corpora
    reindexing: Reindexing
    submissions: Submissions
    jobs: Jobs
    claims: Claims
    staging: Staging
    commits: Commits
    tombstones: Tombstones
    maintenance: Maintenance
    certificates: Certificates
    documents: Documents
    contents: Contents
    receipts: Receipts
    keys: Keys
    questions: Questions
    graph: GraphSource
    merges: EntityMerges
    resolution: EntityResolution
    graph_schemas: GraphSchemas
    exporter: Exporter

    def with_ports(self, **ports: object) -> Self:
        """Returns the same record with other ports under these names."""
        record = copy.copy(self)
        vars(record).update(ports)
        return record

    @abstractmethod
    def for_key(self, key: str | None, where: DocumentFilter | None = None) -> "Record":
        """Returns the same record, whose new jobs keep the id of this key as `submitted_by`; None without a key.

        Its `submissions` change only documents that match `where` (None: any), as they are in the transaction that
        changes them. To them, another document does not exist; `enqueue` raises `Forbidden` for its key. In the same
        way, its `jobs` cancel and resume only the revisions of documents that match.
        """

    @abstractmethod
    async def check(self) -> str:
        """Returns the name and version of the server that answers, such as `Neo4j/5.26.30`.

        Raises `Unavailable`, or `InvalidSettings` if the database does not belong to Hopweave.
        """

    @abstractmethod
    async def close(self) -> None: ...

"""The record: the one place that is never derived from another. Several small ports over one database.

The contract in short: every write is idempotent; a reader sees a revision whole or not at all; a
worker's writes are fenced by the epoch of its claim; each committed write raises the corpus' generation and logs what
changed.
"""

from typing import Protocol

from core.ports.record.corpora import Behind, Built, Corpora
from core.ports.record.exporter import Exporter
from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, GraphSource
from core.ports.record.intake import Enqueued, EnqueuedDocument, Intake, NewRevision
from core.ports.record.jobs import Jobs
from core.ports.record.library import DocumentPage, FactRow, Library, TripleRow
from core.ports.record.work import ChunkRow, Claim, Commit, Outcome, Spent, Staged, Tombstone, WorkQueue

__all__ = [
    "Behind",
    "Built",
    "ChunkRow",
    "Claim",
    "Commit",
    "Corpora",
    "DocumentPage",
    "Enqueued",
    "EnqueuedDocument",
    "Exporter",
    "FactRow",
    "GraphChanges",
    "GraphChunk",
    "GraphRows",
    "GraphSource",
    "Intake",
    "Jobs",
    "Library",
    "NewRevision",
    "Outcome",
    "Record",
    "Spent",
    "Staged",
    "Tombstone",
    "TripleRow",
    "WorkQueue",
]


class Record(Protocol):
    """The ports of one record together, as the container hands them out."""

    @property
    def corpora(self) -> Corpora: ...
    @property
    def intake(self) -> Intake: ...
    @property
    def work(self) -> WorkQueue: ...
    @property
    def library(self) -> Library: ...
    @property
    def graph(self) -> GraphSource: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def exporter(self) -> Exporter: ...

    async def check(self) -> str:
        """What answers, such as `Neo4j/5.26.30`. Raises `Unavailable`, or `InvalidSettings` where it is not ours."""
        ...

    async def close(self) -> None: ...

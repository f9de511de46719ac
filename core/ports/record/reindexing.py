"""The port of reindexing: shadow corpora, which are built beside a corpus and then take its name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.corpora import CorpusSettings
from core.jobs import Job
from core.ports.record.submissions import NewRevision

__all__ = ["Reindex", "ReindexDifference", "Reindexing"]


@dataclass(frozen=True, kw_only=True)
class Reindex:
    """A reindexing in progress: the corpus in use, its shadow corpus, and the open job of kind `reindex`."""

    corpus_id: str
    shadow_id: str
    job_id: str


@dataclass(frozen=True, kw_only=True)
class ReindexDifference:
    """The revisions that the shadow corpus lacks, and the ids of the documents that it has and the corpus has not."""

    revisions: tuple[NewRevision, ...]
    document_ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.revisions or self.document_ids)


class Reindexing(Protocol):
    """Shadow corpora. A shadow corpus has no name and is invisible until `swap` gives it the name of the other."""

    async def start(self, corpus_id: str, settings: CorpusSettings, *, submitted_by: str | None = None) -> Reindex:
        """Creates an empty shadow corpus and its open job of kind `reindex`, made by the holder of this key.

        Raises `Conflict` if the corpus has a shadow corpus already.
        """
        ...

    async def list(self) -> Sequence[Reindex]:
        """Returns all reindexings in progress, oldest first."""
        ...

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        """Returns how the shadow corpus differs from the corpus: at most `limit` revisions and `limit` documents.

        The newest revision of each document counts, whether it is readable, in work or failed, unless it is a deletion.
        """
        ...

    async def swap(self, corpus_id: str) -> Job | None:
        """Gives the name of the corpus to its shadow corpus, closes the `reindex` job, and deletes the corpus.

        The shadow corpus must be complete: it has the newest revision of each document of the corpus and no other
        document, and each is indexed, or is readable in neither. Otherwise returns None and changes nothing. Returns
        the job that deletes the rows of the old corpus.
        """
        ...

    async def cancel(self, corpus_id: str) -> Job | None:
        """Deletes the shadow corpus and cancels its job. Returns None if there is none."""
        ...

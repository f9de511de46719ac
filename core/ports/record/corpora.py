"""Corpora by name."""

from dataclasses import dataclass
from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.jobs import Job
from core.ports.record.intake import NewRevision

__all__ = ["Behind", "Built", "Corpora"]


@dataclass(frozen=True, kw_only=True)
class Built:
    """A corpus that is built beside another, whose place it takes when it is whole."""

    corpus_id: str
    beside_id: str
    """The one that is being built; `corpus_id` is the one in use."""
    job_id: str


@dataclass(frozen=True, kw_only=True)
class Behind:
    """`revisions` are to be handed in to the corpus beside, `document_ids` deleted from it."""

    revisions: tuple[NewRevision, ...]
    document_ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.revisions or self.document_ids)


class Corpora(Protocol):
    """Corpora by name. A dropped corpus is invisible at once; one that is built beside another is not visible yet."""

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        """Raises `Conflict` where the name is taken, `InvalidInput` where it is no name."""
        ...

    async def get(self, name: str) -> Corpus:
        """Raises `NotFound`, naming the corpora that there are."""
        ...

    async def by_id(self, corpus_id: str) -> Corpus:
        """Raises `NotFound`. Sees corpora without a name, too (dropped, or built beside): workers need them."""
        ...

    async def all(self) -> list[Corpus]:
        """By name."""
        ...

    async def rename(self, name: str, new_name: str) -> Corpus: ...

    async def drop(self, name: str) -> Job:
        """Make the corpus invisible, free its name, cancel its work, and queue the removal of everything in it.

        What is being built beside it goes with it.
        """
        ...

    async def build_beside(self, corpus_id: str, settings: CorpusSettings) -> Built:
        """An empty corpus without a name that is to take the place of another, and its open job of kind `reindex`.

        Raises `Conflict` where one is being built already.
        """
        ...

    async def built(self) -> list[Built]:
        """All that are being built, oldest first."""
        ...

    async def behind(self, corpus_id: str, *, limit: int = 1000) -> Behind:
        """What the corpus that is built beside this one lacks of it, or has too much: some of it where it is much.

        The newest revision of each document counts, unless it is a deletion: readable, in work or failed.
        """
        ...

    async def swap(self, corpus_id: str) -> Job | None:
        """Give the name of this corpus to the one beside it, close its `reindex` job, and drop this one.

        Only if the other is whole: it has the newest revision of each document of this one and no other document, and
        each is indexed, or could be read in neither. Else None, and nothing happens. Returns the job that removes the
        old corpus.
        """
        ...

    async def discard_built(self, corpus_id: str) -> Job | None:
        """Drop what is being built beside this corpus, and cancel its job; None where nothing is."""
        ...

    async def counts(self, corpus_id: str) -> CorpusCounts: ...

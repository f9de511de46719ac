"""Corpora by name."""

from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.jobs import Job

__all__ = ["Corpora"]


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

    async def build_beside(self, corpus_id: str, settings: CorpusSettings) -> Corpus:
        """An empty corpus without a name that is to take the place of another. Raises `Conflict` where there is one."""
        ...

    async def beside(self, corpus_id: str) -> Corpus | None:
        """The corpus that is being built beside this one."""
        ...

    async def built(self) -> list[tuple[str, str]]:
        """(id of the corpus in use, id of the one beside it) of all that are being built."""
        ...

    async def swap(self, corpus_id: str, generation: int) -> Job | None:
        """Give the name to the corpus beside, and drop this one, if this one is still at `generation`; else None.

        The generation says that nothing came or went since the two were compared; unfinished revisions do not count.
        Returns the job that removes the old one.
        """
        ...

    async def discard_beside(self, corpus_id: str) -> Job | None:
        """Drop what is being built beside; None where nothing is."""
        ...

    async def counts(self, corpus_id: str) -> CorpusCounts: ...

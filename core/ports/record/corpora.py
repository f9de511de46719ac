"""Corpora by name."""

from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.jobs import Job

__all__ = ["Corpora"]


class Corpora(Protocol):
    """Corpora by name. A dropped corpus is invisible at once."""

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        """Raises `Conflict` where the name is taken, `InvalidInput` where it is no name."""
        ...

    async def get(self, name: str) -> Corpus:
        """Raises `NotFound`, naming the corpora that there are."""
        ...

    async def by_id(self, corpus_id: str) -> Corpus:
        """Raises `NotFound`. Sees corpora that are being dropped, too: workers need them."""
        ...

    async def all(self) -> list[Corpus]:
        """By name."""
        ...

    async def rename(self, name: str, new_name: str) -> Corpus: ...

    async def drop(self, name: str) -> Job:
        """Make the corpus invisible, free its name, cancel its work, and queue the removal of everything in it."""
        ...

    async def counts(self, corpus_id: str) -> CorpusCounts: ...

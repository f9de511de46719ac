"""The port of corpora, by name."""

from collections.abc import Sequence
from typing import Protocol

from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.jobs import Job

__all__ = ["Corpora"]


class Corpora(Protocol):
    """Corpora by name. A deleted corpus is invisible at once; a shadow corpus is invisible until it is swapped in."""

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        """Raises `Conflict` if the name is taken, and `InvalidInput` if it is not a valid name."""
        ...

    async def get(self, name: str) -> Corpus:
        """Raises `NotFound`, naming the corpora that exist."""
        ...

    async def get_by_id(self, corpus_id: str) -> Corpus:
        """Raises `NotFound`. Returns corpora without a name, too (deleted ones and shadows): workers need them."""
        ...

    async def list(self) -> Sequence[Corpus]:
        """Returns the corpora that have a name, by name."""
        ...

    async def rename(self, name: str, new_name: str) -> Corpus:
        """Raises `NotFound` as `get` does, and `Conflict` or `InvalidInput` as `create` does."""
        ...

    async def delete(self, name: str, *, submitted_by: str | None = None) -> Job:
        """Makes the corpus invisible, frees its name, cancels its work, and queues the deletion of everything in it.

        A shadow corpus of it is deleted, too. `submitted_by` is the id of the key of the caller; None without one.
        """
        ...

    async def count(self, corpus_id: str) -> CorpusCounts:
        """Counts what readers see."""
        ...

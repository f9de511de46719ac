"""The port of the file store, which keeps the original bytes of documents."""

from collections.abc import Iterable
from typing import Protocol

__all__ = ["FileStore"]


class FileStore(Protocol):
    """Originals by corpus and content hash, so writing twice is harmless.

    What `put` has returned from survives a crash of the process.
    """

    async def put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        """Stores each content; returns their names (`core.ids.content_hash`), in order."""
        ...

    async def get(self, corpus_id: str, name: str) -> bytes:
        """Returns the content; raises `NotFound` if it is missing."""
        ...

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        """Deletes these originals; unknown names are ignored."""
        ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes all originals of a corpus."""
        ...

    async def check(self) -> str:
        """Returns what stores them, and where. Raises `Unavailable` or `InvalidSettings`."""
        ...

    async def names(self, corpus_id: str) -> list[str]:
        """Returns all names of a corpus, sorted."""
        ...

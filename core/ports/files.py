"""The port of the file store, which keeps the original bytes of documents."""

from collections.abc import Iterable
from typing import Protocol


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

    async def put_derived(self, corpus_id: str, name: str, content: bytes) -> None:
        """Keeps what was computed from a large original beside it, in place of what was kept before.

        Keeps nothing if there is no such original, also if it is deleted at the same time. A store may keep nothing for
        an original of less than 32 kB: what is computed from it is soon computed again.
        """
        ...

    async def get_derived(self, corpus_id: str, name: str) -> bytes | None:
        """Returns what is kept beside an original, or None."""
        ...

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        """Deletes these originals and what is kept beside them; unknown names are ignored."""
        ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes all originals of a corpus."""
        ...

    async def check(self) -> str:
        """Returns what stores them, and where. Raises `Unavailable` or `InvalidSettings`."""
        ...

    async def names(self, corpus_id: str) -> list[str]:
        """Returns the names of all originals of a corpus, sorted."""
        ...

"""The port of the cache of language models' answers."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

__all__ = ["CachedAnswer", "ModelCache"]


@dataclass(frozen=True, kw_only=True)
class CachedAnswer:
    """An answer with the chunks whose text its question contained; without a corpus there are none."""

    key: str
    answer: str
    corpus_id: str = ""
    chunk_ids: frozenset[str] = frozenset()


class ModelCache(Protocol):
    """Answers by key.

    For each corpus the cache knows the generation of the record that it has followed. A reader brings it up to date
    first, so that answers are deleted with the documents that they were made from.
    """

    async def get(self, key: str) -> str | None: ...

    async def put(self, entry: CachedAnswer, generation: int) -> bool:
        """Stores an answer whose chunks all existed at this generation of its corpus (0 without a corpus).

        Returns False, and stores nothing, if the cache has followed the record further or does not know the corpus; the
        caller then reads the record again. An answer with the same key is replaced.
        """
        ...

    async def followed(self, corpus_id: str) -> int | None:
        """Returns the generation up to which removed chunks are handled; None for an unknown corpus."""
        ...

    async def follow(self, corpus_id: str, generation: int, removed: Collection[str] | None) -> None:
        """Deletes the answers that name a removed chunk (None: all of the corpus), and stores the generation.

        Removals may be repeated or out of order; only None sets the generation back.
        """
        ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes the corpus and all its answers."""
        ...

    async def close(self) -> None: ...

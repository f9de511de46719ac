"""Answers of language models, kept so that they are not paid for twice."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

__all__ = ["CachedAnswer", "ModelCache"]


@dataclass(frozen=True, kw_only=True)
class CachedAnswer:
    """`chunk_ids` are the chunks whose text the question held; without a corpus there are none."""

    key: str
    answer: str
    corpus_id: str = ""
    chunk_ids: frozenset[str] = frozenset()


class ModelCache(Protocol):
    """Answers by key. For each corpus it knows the generation of the record that it has followed; who reads brings it
    up to date first, so that what a document said is forgotten with the document.
    """

    async def get(self, key: str) -> str | None: ...

    async def put(self, entry: CachedAnswer, generation: int) -> bool:
        """Keep an answer whose chunks were all there at this generation of its corpus (0 where it has none).

        False, and nothing is kept, where the cache has followed the record further than that, or never heard of the
        corpus: the caller looks at the record again. The same key again takes the place of the former.
        """
        ...

    async def followed(self, corpus_id: str) -> int | None:
        """The generation up to which removed chunks are forgotten; None for a corpus that is not known."""
        ...

    async def follow(self, corpus_id: str, generation: int, removed: Collection[str] | None) -> None:
        """Forget the answers that name a removed chunk (None: all of the corpus), and remember the generation.

        Removals may come twice or in any order; only None sets the generation back.
        """
        ...

    async def forget(self, corpus_id: str) -> None:
        """Forget the corpus and all its answers."""
        ...

    async def close(self) -> None: ...

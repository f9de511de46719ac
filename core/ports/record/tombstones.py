"""The port of tombstones: ids that the record deleted and that views and files may still hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Tombstone", "Tombstones"]


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """Ids that the record no longer names and that views and files may still hold."""

    id: int
    corpus_id: str
    view_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    triple_ids: tuple[str, ...] = ()
    content_hashes: tuple[str, ...] = ()


class Tombstones(Protocol):
    """Tombstones of all corpora. A commit writes one of its own; see `Outcome`."""

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        """Writes a tombstone, due after `grace` seconds: for view entries of a fenced worker, or for originals of
        submissions that made no revision.

        `tombstone.id` is ignored. `documents` are the ids of the documents that the entries were written for.
        Writes nothing, or raises `NotFound`, if the corpus is gone.
        """
        ...

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        """Returns the tombstones that are due and whose documents have no unfinished revision, with all their ids."""
        ...

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        """Returns the tombstone without the ids that the record names again.

        A document that is indexed again has the same ids as before.
        """
        ...

    async def delete(self, tombstones: Sequence[Tombstone]) -> None: ...

"""The port of maintenance: what workers do between claims, and the repair of the record itself."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["DocumentCount", "Maintenance"]


@dataclass(frozen=True, kw_only=True)
class DocumentCount:
    """The documents of a corpus whose newest revision is in one state.

    `waiting_seconds` is for how long the oldest of these revisions has been in the state, by the store's clock;
    a store may leave it 0 for `indexed`.
    """

    corpus: str
    state: str
    documents: int
    waiting_seconds: float


class Maintenance(Protocol):
    """Work that is due, expired leases, orphaned entities, and rows that are stored for a limited time."""

    async def list_corpora_with_work(self) -> list[str]:
        """Returns the ids of the corpora that a worker has something to do for.

        These have queued revisions, expired leases, due tombstones, entities with pending synonyms that are due, or are
        deleted or being reindexed.
        """
        ...

    async def expire_leases(self, *, except_worker: str | None = None) -> int:
        """Ends every lease, and returns how many there were.

        For the process that has just locked the data folder: no other worker can be alive.
        """
        ...

    async def count_expired_leases(self, corpus_id: str) -> int:
        """Returns how many revisions are in work under an expired lease. The next claim takes them over."""
        ...

    async def count_documents(self) -> list[DocumentCount]:
        """Counts the documents of all corpora that have a name, by corpus and state. Reads all of them."""
        ...

    async def count_orphans(self, corpus_id: str) -> int:
        """Returns how many entities no chunk mentions.

        There are none unless something other than Hopweave changed the record.
        """
        ...

    async def delete_orphans(self, corpus_id: str) -> int:
        """Deletes the entities that no chunk mentions, with their synonyms, and returns how many there were."""
        ...

    async def list_deleted_corpora(self) -> list[str]:
        """Returns the ids of the corpora that are deleted and whose rows are still there."""
        ...

    async def delete_corpus_rows(self, corpus_id: str) -> None:
        """Deletes every row of a deleted corpus. Its views and files are deleted before.

        Does nothing if the corpus is not deleted.
        """
        ...

    async def prune(self) -> None:
        """Deletes change log rows that are older than an hour, and closes open jobs that their makers abandoned. A
        record in a file leaves nothing there of what was deleted, unless somebody reads it at that moment.
        """
        ...

"""The ports of what workers write: commits, tombstones and maintenance.

- `Commits`: the transaction that makes revisions current, and the synonyms of new entities.
- `Tombstones`: ids that the record deleted and that views and files may still hold.
- `Maintenance`: what workers do between claims, and the repair of the record itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.documents import Chunk, Metadata
from core.graph import Fact, FitTally, Mention, Synonym
from core.ports.record.queue import Claim
from core.validity.statements import STATEMENTS, without_marks


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
    """Tombstones of all corpora. A commit writes its own tombstone; see `Outcome`."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkRow:
    """A chunk as it is written, with the hash of the input of its extraction. `chunk.view_id` is the id of its
    embedding.

    `terms` are the bytes of its `core.text.terms.Terms`. `title_names` are the ids of the names in its title and its
    heading (`core.ids.entity_id`), each once and at most two; they need not be entities.
    """

    chunk: Chunk
    extract_hash: str
    tokens: int
    terms: bytes
    title_names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Commit:
    """The contents of one revision, which become current in one transaction. A deletion has no chunks.

    `found_metadata` are the metadata that the loader has found in the content. `chunks` and `mentions` may be made when
    they are read, so they are best read few times, and one after another. `fits` are the facts that were compared with
    a schema, with the facts that it left out.
    """

    claim: Claim
    title: str = ""
    found_metadata: Metadata = field(default_factory=dict)
    chunks: Sequence[ChunkRow] = ()
    mentions: Sequence[Mention] = ()
    facts: tuple[Fact, ...] = ()
    malformed_triples: int = 0
    fits: FitTally = field(default_factory=FitTally)

    @property
    def metadata(self) -> Metadata:
        """The metadata of the document: the sender's, and found metadata under names that the sender leaves out.

        What a text states of its validity is always what was found: no sender can put words into it. Marks of writers
        are never found: only the server sets them.
        """
        given = {name: value for name, value in self.claim.metadata.items() if name != STATEMENTS}
        return {**without_marks(self.found_metadata), **given}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a commit. `fenced` are the claims that were fenced; nothing of theirs was written.

    `tombstone` lists the ids that the commit deleted. The caller deletes their view entries at once, and again when
    `Tombstones.list_due` returns the tombstone: a late worker may have written entries in between. After that the
    caller deletes the tombstone. `pending_synonyms` are ids of entities that the commit created and that may lack
    synonyms; see `Commits.commit`.
    """

    generation: int
    fenced: tuple[Claim, ...]
    tombstone: Tombstone | None
    pending_synonyms: tuple[str, ...] = ()


class Commits(Protocol):
    """Commits of claimed revisions, each fenced by the epoch of its claim."""

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        """Makes revisions of one corpus current, or deletes them, each whole and fenced by its own epoch.

        Uses as few transactions as the store can bear. A synonym is left out if one of its entities does not exist
        afterwards. The tombstone is due after `grace` seconds. `seen` is the generation of the corpus before the caller
        searched for the synonyms. If the generation has changed, another worker has committed since, and the search may
        have missed its entities: then the entities that this commit creates are pending until `link_synonyms` is called
        with them.
        """
        ...

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        """Returns the ids of entities whose synonyms are pending for longer than the `grace` of their commit.

        Their worker has died.
        """
        ...

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        """Writes synonyms as `commit` does. The entities `entity_ids` are no longer pending.

        Raises the generation, so that a concurrent commit notices that its search was too early.
        """
        ...


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

    async def expire_leases(self) -> int:
        """Ends every lease, and returns how many there were.

        For the process that has just locked the data folder: no worker can be alive.
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

"""The port of commits: the transaction that makes revisions current, and the synonyms of new entities."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.documents import Chunk, Metadata
from core.graph import Fact, Mention, Synonym
from core.ports.record.claims import Claim
from core.ports.record.tombstones import Tombstone

__all__ = ["ChunkRow", "Commit", "Commits", "Outcome"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkRow:
    """A chunk as it is written, with the hash of the input of its extraction. `chunk.view_id` is that of the embedding.

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

    `found_metadata` are those of the content, which the loader has found. `chunks` and `mentions` may be made when they
    are read, so they are best read few times, and one after another.
    """

    claim: Claim
    title: str = ""
    found_metadata: Metadata = field(default_factory=dict)
    chunks: Sequence[ChunkRow] = ()
    mentions: Sequence[Mention] = ()
    facts: tuple[Fact, ...] = ()
    malformed_triples: int = 0

    @property
    def metadata(self) -> Metadata:
        """The metadata of the document: those of the sender, and of those found the ones that the sender leaves out."""
        return {**self.found_metadata, **self.claim.metadata}


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
        afterwards. The tombstone is due after `grace` seconds. `seen` is the generation of the corpus before the
        caller searched for the synonyms. If the generation is another one now, another worker has committed since, and
        the search may have missed its entities: then the entities that this commit creates are pending until
        `link_synonyms` is called with them.
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

"""Claims, and what workers write under them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.documents import Chunk, Metadata, RevisionState
from core.graph import Extraction, Fact, Mention, Synonym
from core.ports.record.intake import NewRevision

__all__ = ["ChunkRow", "Claim", "Commit", "Outcome", "Spent", "Staged", "Tombstone", "WorkQueue"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A worker's right to one revision until its lease runs out; `epoch` fences it.

    `job_id` is the job that it is done for, which may spend `token_budget` tokens of models (None: any number), and had
    spent `tokens_spent` when the claim was made.
    """

    corpus_id: str
    document_id: str
    key: str
    revision: int
    epoch: int
    deletion: bool
    media_type: str
    content_hash: str
    size: int
    title: str | None
    metadata: Metadata
    job_id: str = ""
    token_budget: int | None = None
    tokens_spent: int = 0

    @property
    def token(self) -> tuple[str, str, int, int]:
        """What makes this claim this one: corpus, document, revision, epoch."""
        return self.corpus_id, self.document_id, self.revision, self.epoch


@dataclass(frozen=True, kw_only=True)
class Staged:
    """An extraction of one chunk's input, kept under (document id, `extract_hash`)."""

    claim: Claim
    extract_hash: str
    extraction: Extraction


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What calls of models cost a job since it was last told."""

    job_id: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class ChunkRow:
    """A chunk as it is written, and the hash of what it was extracted from (its `view_id` holds the embedded one).

    `terms` are the bytes of its `core.text.terms.Terms`; `title_names` the ids of the names that its title and its
    heading are (`core.ids.entity_id`), each once and at most two. Entities or not: that is for the mentions to say.
    """

    chunk: Chunk
    extract_hash: str
    tokens: int
    terms: bytes
    title_names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A revision, whole: what becomes current in one transaction. A deletion has no chunks."""

    claim: Claim
    title: str = ""
    chunks: tuple[ChunkRow, ...] = ()
    mentions: tuple[Mention, ...] = ()
    facts: tuple[Fact, ...] = ()
    malformed_triples: int = 0


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """What the record names no more and views and files may still hold: to be deleted there, by id."""

    id: int
    corpus_id: str
    view_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    triple_ids: tuple[str, ...] = ()
    content_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`fenced` are the claims that had been lost; nothing of theirs was written.

    `tombstone` lists what the commit removed; its view entries are deleted at once, and again when `tombstones` gives
    it back (a late worker may have written them in between), after which it is cleared. `unsettled` are ids of
    entities that the commit made and that may lack synonyms; see `WorkQueue.commit`.
    """

    generation: int
    fenced: tuple[Claim, ...]
    tombstone: Tombstone | None
    unsettled: tuple[str, ...] = ()


class WorkQueue(Protocol):
    """Claims with leases by the store's clock. A method that takes claims ignores those that were lost."""

    async def waiting(self) -> list[str]:
        """Ids of the corpora that have something to do: queued revisions, expired leases, due tombstones, entities that
        were left unsettled, or that are to be forgotten or built beside another.
        """
        ...

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        """The oldest claimable revisions up to `max_bytes` of content (at least one, if any is claimable).

        One that has been claimed four times without an end comes alone; after eight times it fails.
        """
        ...

    async def adopt(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        """Revisions that come prepared, as from a backup: queued and claimed in one step, so that nobody begins them.

        As `Intake.enqueue` with `on_conflict=replace` into the job `job_id`: what is unchanged gives no claim.
        """
        ...

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        """Extend the leases; returns the claims that were lost."""
        ...

    async def advance(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        """Show where the revisions are; returns the claims that were lost."""
        ...

    async def release(self, claims: Sequence[Claim]) -> None:
        """Hand back unfinished work; it is claimable again at once."""
        ...

    async def fail(self, claim: Claim, reason: str) -> None:
        """End a revision; the current one stays."""
        ...

    async def expire(self, *, except_worker: str | None = None) -> int:
        """Treat every lease as run out: for the one who has just taken the data folder's lock. Returns how many."""
        ...

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        """Stop work whose job has used up its budget, and all that is queued of these jobs, until they are resumed.

        A revision that has moved to another job meanwhile is handed back instead.
        """
        ...

    async def stage(self, extractions: Sequence[Staged], spent: Sequence[Spent] = ()) -> list[Claim]:
        """Keep extractions before their revision is whole: once paid for, never paid for again. Returns lost claims.

        `spent` is added to what its jobs have spent, also where the claims were lost: it was paid.
        """
        ...

    async def staged(self, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
        """Those of the (document id, extract hash) that are kept, of current and unfinished revisions alike."""
        ...

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        """Make revisions of one corpus current (or gone), each whole and fenced by its own epoch, in as few
        transactions as the store bears.

        Synonyms of which an entity does not exist afterwards are left out. The tombstone is due after `grace` seconds.
        `seen` is the corpus' generation before the synonyms were looked for. Where it is another by now, somebody else
        has committed meanwhile: what they made, the look may have missed. The entities that are new with this commit
        are unsettled then, until `settle` is told that they have been looked at again.
        """
        ...

    async def unsettled(self, corpus_id: str) -> list[str]:
        """Ids of the entities that have been unsettled for the `grace` of their commit: their worker has died."""
        ...

    async def settle(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        """Join synonyms, as `commit` does, and note that these entities lack none any more.

        Raises the generation, so that a commit of what was seen before notices.
        """
        ...

    async def bury(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        """Note view entries that a fenced worker wrote, to be swept after `grace` seconds if the record lacks them.

        The tombstone's own id is of no account. `documents` are those that it wrote them for.
        """
        ...

    async def tombstones(self, corpus_id: str) -> list[Tombstone]:
        """Those that are due and whose documents have no unfinished revision, with all that they ever listed."""
        ...

    async def unnamed(self, tombstone: Tombstone) -> Tombstone:
        """Without what the record names (again): a document that came back has the same ids as before."""
        ...

    async def clear(self, tombstones: Sequence[Tombstone]) -> None: ...

    async def lapsed(self, corpus_id: str) -> int:
        """How many revisions are in work by a worker whose lease has run out; the next claim takes them over."""
        ...

    async def unmentioned(self, corpus_id: str, *, remove: bool = False) -> int:
        """How many entities the record keeps though no chunk mentions them: none, unless somebody else changed it.

        With `remove` they go, with their synonyms.
        """
        ...

    async def dropped(self) -> list[str]:
        """Ids of the corpora that are to be forgotten."""
        ...

    async def forget(self, corpus_id: str) -> None:
        """Remove every row of a corpus that was dropped; its views and files are gone by then."""
        ...

    async def trim(self) -> None:
        """Drop what is kept for a time only: changes older than an hour; close jobs that their makers abandoned."""
        ...

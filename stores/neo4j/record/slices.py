"""Commits of a document that is too large for one transaction: in slices that no reader sees.

The slices insert the chunks of the new revision with its number as `first`, and set `last` on outdated chunks to the
number of the current revision. A changed chunk, whose id stays, is inserted beside the stored one under a uid that ends
in the revision's number. Then one small transaction raises `current` of the document. Each slice first checks the
claim.

What no reader sees any more are leftovers: outdated chunks of a shown revision, or chunks of a revision that was never
shown, because its worker was fenced. A document whose property `slices` names a revision may have leftovers. A
tombstone with the same property marks it, so that other workers find it. All steps of their deletion may be repeated,
and several workers may do them at once: each transaction checks under the lock of the corpus whether it is still
needed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

from core.graph import Synonym
from core.ports.record import ChunkRow, Claim, Commit, Outcome, Tombstone
from core.record_policy.submissions import WORKING
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import document_uid, uid_of
from stores.neo4j.driver.transaction import Row, Transaction, batches, batches_by_size, statements
from stores.neo4j.record.claims import Token, valid_claims
from stores.neo4j.record.commit_rows import (
    Change,
    delete_chunks,
    finish,
    insert_chunks,
    make_current,
    read_changes,
    write_links,
)
from stores.neo4j.record.entities import Neo4jCommitEffects, pending_from, write_synonyms

SLICE_ROWS = 20_000
"""Four concurrent writers fit into a heap of 768 MB with this size, with much to spare."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """`rows` is the approximate number of chunks, mentions and facts that one transaction writes or deletes.

    `grace` is the number of seconds after which tombstones are due.
    """

    rows: int
    grace: float


T = TypeVar("T")

_OUTDATED = 10_000  # chunks of one transaction that sets `last`


@dataclass(frozen=True, kw_only=True)
class _Slice:
    """Chunks that one transaction inserts. `suffix` ends their uids."""

    chunks: Sequence[ChunkRow]
    suffix: str


class _Fenced(Exception):
    """The claim was fenced between two slices."""


async def insert_in_slices(
    database: Neo4jDatabase, commit: Commit, synonyms: Sequence[Synonym], bounds: Bounds, seen: int | None
) -> list[Outcome]:
    """Makes a large revision current. Returns the outcomes of the transactions."""
    document = _LargeDocument(database, commit, bounds)
    try:
        return await document.insert(synonyms, seen)
    except _Fenced:
        return [await document.fenced_outcome()]


async def delete_in_slices(database: Neo4jDatabase, commit: Commit, bounds: Bounds) -> list[Outcome]:
    """Deletes the chunks of a large hidden document, but not the document. Returns the outcomes of the transactions."""
    document = _LargeDocument(database, commit, bounds)
    try:
        return await document.delete()
    except _Fenced:
        return [await document.fenced_outcome()]


class _LargeDocument:
    """The transactions of a commit of one large document. Each first checks the claim."""

    def __init__(self, database: Neo4jDatabase, commit: Commit, bounds: Bounds) -> None:
        self._database = database
        self._commit = commit
        self._corpus_id = commit.claim.corpus_id
        self._bounds = bounds
        self._jobs: Mapping[Token, str] = {}  # of the claim, as the running transaction has read it

    async def insert(self, synonyms: Sequence[Synonym], seen: int | None) -> list[Outcome]:
        linked: set[tuple[str, str]] = set()
        pending: set[str] = set()
        await self._write(self._mark)
        change = await self._database.read(self._read)
        for part in _slices(change, self._bounds.rows):
            pairs, entities = await self._write(partial(self._insert, part=part, synonyms=synonyms, seen=seen))
            linked |= pairs
            pending.update(entities)
        for uids in batches(change.outdated, _OUTDATED):
            await self._write(partial(self._set_last, change=change, uids=uids))
        outcome = await self._write(partial(self._show, change=change, linked=linked, synonyms=synonyms))
        claim = self._commit.claim
        tombstones = await delete_leftovers(
            self._database, claim.corpus_id, claim.document_id, claim.revision, self._bounds
        )
        outcome = replace(outcome, pending_synonyms=tuple(sorted(pending)))
        return [outcome, *(replace(outcome, tombstone=tombstone) for tombstone in tombstones)]

    async def delete(self) -> list[Outcome]:
        uids = [document_uid(self._commit.claim)]
        chunks = await self._database.read(lambda tx: tx.rows(statements("commits")["chunk_uids"], rows=uids))
        return [
            await self._write(partial(self._delete, chunks=part)) for part in batches_by_size(chunks, self._bounds.rows)
        ]

    async def fenced_outcome(self) -> Outcome:
        generation = await self._database.write(self._corpus_id, lambda tx: int(tx.corpus["generation"]))
        return Outcome(generation=generation, fenced=(self._commit.claim,), tombstone=None)

    async def _write(self, work: Callable[[Transaction], T]) -> T:
        return await self._database.write(self._corpus_id, partial(self._check_and_work, work=work))

    def _check_and_work(self, tx: Transaction, work: Callable[[Transaction], T]) -> T:
        self._jobs = valid_claims(tx, [self._commit.claim])
        if not self._jobs:
            raise _Fenced
        return work(tx)

    def _mark(self, tx: Transaction) -> None:
        """Records that the document may have slices. If this worker dies, another worker deletes them."""
        claim, grace = self._commit.claim, self._bounds.grace
        uid = document_uid(claim)
        tx.run(statements("slices")["mark"], corpus_id=self._corpus_id, uid=uid, revision=claim.revision, grace=grace)

    def _read(self, tx: Transaction) -> Change:
        changes = read_changes(tx, [self._commit])
        if not changes:
            raise _Fenced
        return changes[0]

    def _insert(
        self, tx: Transaction, part: _Slice, synonyms: Sequence[Synonym], seen: int | None
    ) -> tuple[set[tuple[str, str]], tuple[str, ...]]:
        """Returns the pairs of entities whose synonyms were written, and the entities whose synonyms are pending.

        The synonyms are written with their entities: a worker that repeats the commit after a crash finds the entities
        and does not search for their synonyms.
        """
        effects = Neo4jCommitEffects(corpus_id=self._corpus_id, pending_from=pending_from(tx, seen, self._bounds.grace))
        insert_chunks(tx, self._commit, part.chunks, part.suffix, effects)
        entities = effects.names.keys()
        some = [synonym for synonym in synonyms if synonym.first_id in entities or synonym.second_id in entities]
        return write_synonyms(tx, self._corpus_id, some), effects.pending_synonyms

    def _set_last(self, tx: Transaction, change: Change, uids: Sequence[str]) -> None:
        """Records that chunks do not belong to the revision after the current one."""
        tx.run_batches(statements("slices")["set_last"], uids, last=change.current)

    def _show(
        self, tx: Transaction, change: Change, synonyms: Sequence[Synonym], linked: set[tuple[str, str]]
    ) -> Outcome:
        """Makes the revision current. `linked` are the pairs whose synonyms the slices have written."""
        effects = Neo4jCommitEffects(corpus_id=self._corpus_id, written=set(change.written))
        effects.deleted = {row["id"] for row in change.deleted}
        updates = sorted(change.updates, key=lambda row: str(row["uid"]))
        tx.run_batches(statements("commits")["update_chunks"], updates)
        make_current(tx, [change], self._jobs, effects)
        rest = [pair for pair in synonyms if (pair.first_id, pair.second_id) not in linked]
        claims = [self._commit.claim]
        return finish(tx, effects, rest, formless=(), claims=claims, grace=self._bounds.grace, linked=linked)

    def _delete(self, tx: Transaction, chunks: Sequence[Row]) -> Outcome:
        document_id = self._commit.claim.document_id
        tombstone = delete_chunks(tx, self._corpus_id, chunks, document_id, self._bounds.grace)
        return Outcome(generation=tx.corpus["generation"], fenced=(), tombstone=tombstone)


def _slices(change: Change, max_rows: int) -> Iterator[_Slice]:
    """Yields the chunks of each transaction. Changed chunks get a suffix, as their stored rows have the same ids."""
    commit = change.commit
    sizes: dict[str, int] = {row.chunk.id: 1 for row in commit.chunks}
    for chunk_id in (*(m.chunk_id for m in commit.mentions), *(f.chunk_id for f in commit.facts)):
        sizes[chunk_id] = sizes.get(chunk_id, 0) + 1
    for chunks, suffix in ((change.new, ""), (change.changed, f":{commit.claim.revision}")):
        by_id = {row.chunk.id: row for row in chunks}
        for part in batches_by_size([{"id": id, "rows": sizes[id]} for id in by_id], max_rows):
            yield _Slice(chunks=[by_id[row["id"]] for row in part], suffix=suffix)


_RENAMED = 500  # chunks, with their facts
_ROWS = 5000


class _NotNeeded(Exception):
    """Another worker has deleted the leftovers, or works on the document."""


async def delete_abandoned_leftovers(database: Neo4jDatabase, corpus_id: str, bounds: Bounds) -> None:
    """Deletes the leftovers of all marked documents of a corpus that no worker works on."""
    marked = await database.read(lambda tx: tx.rows(statements("slices")["marked"], corpus_id=corpus_id))
    for row in marked:
        if row["slices"] is None:
            await database.write(corpus_id, partial(_unmark, corpus_id=corpus_id, document_id=row["document"]))
        else:
            await delete_leftovers(database, corpus_id, row["document"], row["slices"], bounds)


async def delete_leftovers(
    database: Neo4jDatabase, corpus_id: str, document_id: str, revision: int, bounds: Bounds, claim: Claim | None = None
) -> list[Tombstone]:
    """Deletes the leftovers of the slices of a revision. Returns the tombstones of what it deletes.

    A claim is needed while the document is in work.
    """
    leftovers = _Leftovers(database, corpus_id, document_id, revision, claim)
    try:
        return await leftovers.delete(bounds)
    except _NotNeeded:
        return []


class _Leftovers:
    """The leftovers of one document, of the slices of one revision."""

    def __init__(
        self, database: Neo4jDatabase, corpus_id: str, document_id: str, revision: int, claim: Claim | None
    ) -> None:
        self._database = database
        self._corpus_id = corpus_id
        self._document_id = document_id
        self._uid = uid_of(corpus_id, document_id)
        self._revision = revision
        self._claim = claim

    async def delete(self, bounds: Bounds) -> list[Tombstone]:
        tombstones = []
        for part in batches_by_size(await self._read("hidden_chunks"), bounds.rows):
            work = partial(self._delete_chunks, chunks=part, grace=bounds.grace)
            tombstones.append(await self._write(work))
        await self._run("suffixed_chunks", "delete_suffixes", _RENAMED)
        await self._run("chunks_with_last", "delete_last", _ROWS)
        await self._delete_extractions()
        await self._link()
        await self._write(lambda tx: _unmark(tx, self._corpus_id, self._document_id))
        return [tombstone for tombstone in tombstones if tombstone is not None]

    async def _read(self, statement: str) -> list[Row]:
        return await self._database.read(lambda tx: tx.rows(statements("slices")[statement], uid=self._uid))

    async def _run(self, select: str, change: str, size: int) -> None:
        """Changes the rows that a statement selects, at most `size` rows in one transaction."""
        uids = [row["uid"] for row in await self._read(select)]
        for part in batches(uids, size):
            await self._write(partial(_run_statement, file="slices", name=change, rows=part))

    async def _delete_extractions(self) -> None:
        """Deletes the extractions that the shown revision does not use.

        A revision that is not shown may be indexed again, and then uses its extractions.
        """
        used = {row["hash"] for row in await self._read("used_extractions")}
        uids = [self._uid]
        stored = await self._database.read(lambda tx: tx.rows(statements("commits")["extractions"], rows=uids))
        unused = [row["uid"] for row in stored if used and row["hash"] not in used]
        for part in batches(unused, _ROWS):
            await self._write(partial(_run_statement, file="commits", name="delete_extractions", rows=part))

    async def _link(self) -> None:
        """Makes the NEXT relationships follow the order of the chunks."""
        wanted = set(pairwise(row["uid"] for row in await self._read("ordered_chunks")))
        stored = {(row["first"], row["second"]) for row in await self._read("links")}
        for pairs in batches(sorted(stored - wanted), _ROWS):
            await self._write(partial(write_links, wrong=pairs, missing=()))
        for pairs in batches(sorted(wanted - stored), _ROWS):
            await self._write(partial(write_links, wrong=(), missing=pairs))

    async def _write(self, work: Callable[[Transaction], T]) -> T:
        return await self._database.write(self._corpus_id, partial(self._check_and_work, work=work))

    def _check_and_work(self, tx: Transaction, work: Callable[[Transaction], T]) -> T:
        row = tx.row(statements("slices")["document_state"], uid=self._uid, working=WORKING)
        if row is None or row["slices"] != self._revision:
            raise _NotNeeded
        if (self._claim is None and row["working"]) or (
            self._claim is not None and not valid_claims(tx, [self._claim])
        ):
            raise _NotNeeded
        return work(tx)

    def _delete_chunks(self, tx: Transaction, chunks: Sequence[Row], grace: float) -> Tombstone | None:
        return delete_chunks(tx, self._corpus_id, chunks, self._document_id, grace)


def _run_statement(tx: Transaction, file: str, name: str, rows: Sequence[str]) -> None:
    tx.run(statements(file)[name], rows=rows)


def _unmark(tx: Transaction, corpus_id: str, document_id: str) -> None:
    tx.run(statements("slices")["unmark"], corpus_id=corpus_id, document_id=document_id)

"""Commits of a document that is too large for one transaction: in slices that no reader sees.

The slices insert the chunks of the new revision with `first`, the number of that revision, and set `last` on outdated
chunks, the number of the current one. A changed chunk, whose id stays, is inserted beside the stored one under a uid
that ends in the revision's number. Then one small transaction raises `current` of the document, and
`leftovers` deletes what no reader sees any more. Each slice first checks the claim. What a fenced worker has inserted,
`leftovers` deletes too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from core.graph import Synonym
from core.ports.record import ChunkRow, Commit, Outcome
from stores.neo4j.commit.bounds import Bounds
from stores.neo4j.commit.changes import Change, read_changes
from stores.neo4j.commit.delete import delete_chunks
from stores.neo4j.commit.entities import Neo4jCommitEffects
from stores.neo4j.commit.finish import finish, make_current
from stores.neo4j.commit.insert import insert_chunks
from stores.neo4j.commit.leftovers import delete_leftovers
from stores.neo4j.commit.synonyms import pending_from, write_synonyms
from stores.neo4j.driver.database import Neo4jDatabase, Row, Transaction, batches, batches_by_size
from stores.neo4j.driver.node_uids import document_uid
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import Token, valid_claims

__all__ = ["delete_in_slices", "insert_in_slices"]

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
    database: Neo4jDatabase, one: Commit, synonyms: Sequence[Synonym], bounds: Bounds, seen: int | None
) -> list[Outcome]:
    """Makes a large revision current. Returns the outcomes of the transactions."""
    document = _LargeDocument(database, one, bounds)
    try:
        return await document.insert(synonyms, seen)
    except _Fenced:
        return [await document.fenced_outcome()]


async def delete_in_slices(database: Neo4jDatabase, one: Commit, bounds: Bounds) -> list[Outcome]:
    """Deletes the chunks of a large hidden document; the document is left. Returns the outcomes of the transactions."""
    document = _LargeDocument(database, one, bounds)
    try:
        return await document.delete()
    except _Fenced:
        return [await document.fenced_outcome()]


class _LargeDocument:
    """The transactions of a commit of one large document. Each first checks the claim."""

    def __init__(self, database: Neo4jDatabase, one: Commit, bounds: Bounds) -> None:
        self._database = database
        self._commit = one
        self._corpus_id = one.claim.corpus_id
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
        """Records that the document may have slices. If this worker dies, another one deletes them."""
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
    one = change.commit
    sizes: dict[str, int] = {row.chunk.id: 1 for row in one.chunks}
    for chunk_id in (*(m.chunk_id for m in one.mentions), *(f.chunk_id for f in one.facts)):
        sizes[chunk_id] = sizes.get(chunk_id, 0) + 1
    for chunks, suffix in ((change.new, ""), (change.changed, f":{one.claim.revision}")):
        by_id = {row.chunk.id: row for row in chunks}
        for part in batches_by_size([{"id": id, "rows": sizes[id]} for id in by_id], max_rows):
            yield _Slice(chunks=[by_id[row["id"]] for row in part], suffix=suffix)

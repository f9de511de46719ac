"""Deleting the leftovers of slices: outdated chunks of a shown revision, or chunks of a revision that was never shown.

A document whose property `slices` names a revision may have leftovers. A tombstone with the same property marks it, so
that other workers find it. All steps may be repeated, and several workers may do them at once: each transaction checks
under the lock of the corpus whether it is still needed.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from core.ports.record import Claim, Tombstone
from core.record_policy.states import WORKING
from stores.neo4j.commit.bounds import Bounds
from stores.neo4j.commit.delete import delete_chunks
from stores.neo4j.commit.insert import write_links
from stores.neo4j.driver.database import Neo4jDatabase, Row, Transaction, batches, batches_by_size
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import valid_claims

__all__ = ["delete_abandoned_leftovers", "delete_leftovers"]

T = TypeVar("T")

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
        return [one for one in tombstones if one is not None]

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

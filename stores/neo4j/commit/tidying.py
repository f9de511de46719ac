"""After slices: what is not seen any more goes, or what was never to be seen, where a worker lost its claim or died.

A document whose `slices` names a revision has such rows; a tombstone marks it, so that it is found. All of it may be
done twice, and by two at once: each step looks under the corpus' lock whether it is still to be done.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from core.ports.record import Claim, Tombstone
from stores.neo4j.commit.chains import write_chains
from stores.neo4j.commit.departures import Bounds, packed, take_away
from stores.neo4j.driver.database import Database, Row, Transaction, batches
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of
from stores.neo4j.leases.claims import held
from stores.neo4j.leases.states import WORKING

__all__ = ["tidy", "tidy_marked"]

T = TypeVar("T")

_RENAMED = 500  # chunks, with their facts
_ROWS = 5000


class _Over(Exception):
    """Somebody else has tidied up, or works on the document now."""


async def tidy_marked(database: Database, corpus_id: str, bounds: Bounds) -> None:
    """Tidy the documents up that were left half-written and that nobody works on."""
    marked = await database.read(lambda tx: tx.rows(statements("slices")["marked"], corpus_id=corpus_id))
    for row in marked:
        if row["slices"] is None:
            await database.write(corpus_id, partial(_unmark, corpus_id=corpus_id, document_id=row["document"]))
        else:
            await tidy(database, corpus_id, row["document"], row["slices"], bounds)


async def tidy(
    database: Database, corpus_id: str, document_id: str, revision: int, bounds: Bounds, claim: Claim | None = None
) -> list[Tombstone]:
    """Tidy up after the slices of a revision; `claim` is the right to do so while the document is in work.

    Returns what it has buried.
    """
    tidying = _Tidying(database, corpus_id, document_id, revision, claim)
    try:
        return await tidying.run(bounds)
    except _Over:
        return []


class _Tidying:
    def __init__(
        self, database: Database, corpus_id: str, document_id: str, revision: int, claim: Claim | None
    ) -> None:
        self._database = database
        self._corpus_id = corpus_id
        self._document_id = document_id
        self._uid = uid_of(corpus_id, document_id)
        self._revision = revision
        self._claim = claim

    async def run(self, bounds: Bounds) -> list[Tombstone]:
        buried = []
        for part in packed(await self._read("unseen"), bounds.rows):
            work = partial(self._take_away, rows=part, grace=bounds.grace)
            buried.append(await self._write(work))
        await self._each("beside", "rename", _RENAMED)
        await self._each("told", "untell", _ROWS)
        await self._drop_extractions()
        await self._chain()
        await self._write(lambda tx: _unmark(tx, self._corpus_id, self._document_id))
        return [one for one in buried if one is not None]

    async def _read(self, name: str) -> list[Row]:
        return await self._database.read(lambda tx: tx.rows(statements("slices")[name], uid=self._uid))

    async def _each(self, found: str, done: str, size: int) -> None:
        """Do something to the rows that a statement finds, so many in one transaction."""
        uids = [row["uid"] for row in await self._read(found)]
        for part in batches(uids, size):
            await self._write(partial(_run, file="slices", name=done, rows=part))

    async def _drop_extractions(self) -> None:
        """Those that the revision does not use; one that is not shown may come again, and want them."""
        used = {row["hash"] for row in await self._read("used")}
        there = await self._database.read(lambda tx: tx.rows(statements("commits")["extractions"], rows=[self._uid]))
        unused = [row["uid"] for row in there if used and row["hash"] not in used]
        for part in batches(unused, _ROWS):
            await self._write(partial(_run, file="commits", name="drop_extractions", rows=part))

    async def _chain(self) -> None:
        ordered = [row["uid"] for row in await self._read("in_order")]
        wanted = set(pairwise(ordered))
        there = {(row["first"], row["second"]) for row in await self._read("nexts")}
        for pairs in batches(sorted(there - wanted), _ROWS):
            await self._write(partial(write_chains, wrong=pairs, missing=()))
        for pairs in batches(sorted(wanted - there), _ROWS):
            await self._write(partial(write_chains, wrong=(), missing=pairs))

    async def _write(self, work: Callable[[Transaction], T]) -> T:
        return await self._database.write(self._corpus_id, partial(self._guarded, work=work))

    def _guarded(self, tx: Transaction, work: Callable[[Transaction], T]) -> T:
        row = tx.row(statements("slices")["state"], uid=self._uid, working=WORKING)
        if row is None or row["slices"] != self._revision:
            raise _Over
        if (self._claim is None and row["working"]) or (self._claim is not None and not held(tx, [self._claim])):
            raise _Over
        return work(tx)

    def _take_away(self, tx: Transaction, rows: Sequence[Row], grace: float) -> Tombstone | None:
        return take_away(tx, self._corpus_id, rows, self._document_id, grace)


def _run(tx: Transaction, file: str, name: str, rows: Sequence[str]) -> None:
    tx.run(statements(file)[name], rows=rows)


def _unmark(tx: Transaction, corpus_id: str, document_id: str) -> None:
    tx.run(statements("slices")["unmark"], corpus_id=corpus_id, document_id=document_id)

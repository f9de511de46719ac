"""The port of tombstones in Neo4j: ids that the record deleted and that views may still hold."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from core.errors import NotFound
from core.ports.record import Tombstone
from stores.neo4j.commit.departures import SLICE_ROWS, Bounds
from stores.neo4j.commit.tidying import tidy_marked
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of
from stores.payloads import dump

__all__ = ["KINDS", "Neo4jTombstones", "bury", "clear", "due", "still_gone", "unnamed"]

KINDS = ("view_ids", "entity_ids", "triple_ids", "content_hashes")

# Ids that the record names again: a document that came back has the same ids as before.
_NAMED_AGAIN = {
    "view_ids": "viewed",
    "entity_ids": "named",
    "triple_ids": "asserted",
    "content_hashes": "referenced",
}


class Neo4jTombstones:
    """Fills `core.ports.record.Tombstones`."""

    def __init__(self, database: Database, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows`: about how many rows of chunks, mentions and facts one transaction deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(tombstone.corpus_id, lambda tx: bury(tx, tombstone, documents, grace))

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        await tidy_marked(self._database, corpus_id, Bounds(rows=self._slice_rows, grace=0.0))
        return await self._database.read(lambda tx: due(tx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda tx: unnamed(tx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        for corpus_id in sorted({one.corpus_id for one in tombstones}):
            some = [one for one in tombstones if one.corpus_id == corpus_id]
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(clear, cleared=some))


def bury(tx: Transaction, tombstone: Tombstone, documents: Sequence[str], grace: float) -> Tombstone | None:
    """Write a tombstone, due after `grace` seconds; None if there is nothing to bury."""
    if not any(getattr(tombstone, kind) for kind in KINDS):
        return None
    row = tx.rows(
        statements("tombstones")["bury"],
        corpus_id=tombstone.corpus_id,
        grace=grace,
        documents=list(documents),
        payload=dump({kind: list(getattr(tombstone, kind)) for kind in KINDS}),
    )[0]
    return replace(tombstone, id=row["id"])


def due(tx: Transaction, corpus_id: str) -> list[Tombstone]:
    """See `core.ports.record.Tombstones.list_due`."""
    found = []
    for row in tx.rows(statements("tombstones")["due"], corpus_id=corpus_id):
        payload: dict[str, list[str]] = json.loads(row["payload"])
        found.append(Tombstone(id=row["id"], corpus_id=corpus_id, **_tuples(payload)))
    return found


def unnamed(tx: Transaction, tombstone: Tombstone) -> Tombstone:
    """See `core.ports.record.Tombstones.select_orphans`."""
    gone = {kind: still_gone(tx, tombstone.corpus_id, kind, getattr(tombstone, kind)) for kind in KINDS}
    return Tombstone(id=tombstone.id, corpus_id=tombstone.corpus_id, **_tuples(gone))


def still_gone(tx: Transaction, corpus_id: str, kind: str, ids: Collection[str]) -> list[str]:
    """Those of the ids that the record does not name, in their order."""
    keys = list(ids) if kind == "content_hashes" else [uid_of(corpus_id, id) for id in ids]
    rows = rows_of(tx, statements("commits")[_NAMED_AGAIN[kind]], keys, corpus_id=corpus_id)
    named = {row["id"] for row in rows}
    return [id for id in ids if id not in named]


def _tuples(ids: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(ids[kind]) for kind in KINDS}


def clear(tx: Transaction, cleared: Sequence[Tombstone]) -> None:
    uids = sorted(uid_of(one.corpus_id, str(one.id)) for one in cleared)
    tx.run_batches(statements("tombstones")["clear"], uids)

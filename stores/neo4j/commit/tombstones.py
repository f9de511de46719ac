"""Tombstones in Neo4j, as functions of one transaction."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of
from stores.payloads import dump

__all__ = ["KINDS", "bury", "clear", "due", "still_gone", "unnamed"]

KINDS = ("view_ids", "entity_ids", "triple_ids", "content_hashes")

# Ids that the record names again: a document that came back has the same ids as before.
_NAMED_AGAIN = {
    "view_ids": "viewed",
    "entity_ids": "named",
    "triple_ids": "asserted",
    "content_hashes": "referenced",
}


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

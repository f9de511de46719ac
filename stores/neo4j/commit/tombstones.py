"""Tombstones: ids that the record no longer names and that views and files may still hold."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from core.record_policy.tombstones import BLOCKING, KINDS, ids_of, is_empty, make_tombstone, merge_ids, without
from stores.neo4j.commit.entities import Neo4jCommitEffects
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements
from stores.payloads import dump

__all__ = [
    "delete_tombstones",
    "due_tombstones",
    "insert_tombstone",
    "merge_tombstones",
    "select_orphans",
    "write_tombstone",
]

# The statements that return those of the ids that the record names: a document that is indexed again has the same ids.
_IN_USE = {
    "view_ids": "used_view_ids",
    "entity_ids": "used_entities",
    "triple_ids": "used_triples",
    "content_hashes": "used_contents",
}


def write_tombstone(
    tx: Transaction, effects: Neo4jCommitEffects, entity_ids: Sequence[str], document_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Writes a tombstone for what a transaction deletes, due after `grace` seconds; None if there is nothing to list.

    Triples are listed although a chunk may still assert them. The reader of the tombstone selects the orphans, and
    holds no lock for that.
    """
    corpus_id, contents = effects.corpus_id, sorted(effects.content_hashes)
    used = _used(tx, corpus_id, "content_hashes", contents)
    ids = {
        "view_ids": sorted(effects.view_ids),
        "entity_ids": sorted(entity_ids),
        "triple_ids": sorted(effects.triples),
        "content_hashes": [hash for hash in contents if hash not in used],
    }
    return insert_tombstone(tx, make_tombstone(0, corpus_id, ids), document_ids, grace)


def insert_tombstone(
    tx: Transaction, tombstone: Tombstone, document_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Inserts a tombstone, due after `grace` seconds, and returns it with its id; None if it lists nothing."""
    if is_empty(tombstone):
        return None
    row = tx.rows(
        statements("tombstones")["insert"],
        corpus_id=tombstone.corpus_id,
        grace=grace,
        documents=list(document_ids),
        payload=dump(ids_of(tombstone)),
    )[0]
    return replace(tombstone, id=row["id"])


def due_tombstones(tx: Transaction, corpus_id: str) -> list[Tombstone]:
    """Returns the tombstones that are due and whose documents have no unfinished revision, with all their ids."""
    rows = tx.rows(statements("tombstones")["due"], corpus_id=corpus_id, blocking=BLOCKING)
    return [make_tombstone(row["id"], corpus_id, json.loads(row["payload"])) for row in rows]


def select_orphans(tx: Transaction, tombstone: Tombstone) -> Tombstone:
    """Returns the tombstone without the ids that the record names again."""
    ids = ids_of(tombstone)
    return without(tombstone, {kind: _used(tx, tombstone.corpus_id, kind, ids[kind]) for kind in KINDS})


def merge_tombstones(tombstones: Sequence[Tombstone]) -> Tombstone:
    """Returns a tombstone with the id of the last one that lists the ids of all. At least one is given."""
    return make_tombstone(tombstones[-1].id, tombstones[-1].corpus_id, merge_ids(tombstones))


def delete_tombstones(tx: Transaction, tombstones: Sequence[Tombstone]) -> None:
    uids = sorted(uid_of(one.corpus_id, str(one.id)) for one in tombstones)
    tx.run_batches(statements("tombstones")["delete"], uids)


def _used(tx: Transaction, corpus_id: str, kind: str, ids: Collection[str]) -> set[str]:
    """Returns those of the ids that the record names."""
    keys = list(ids) if kind == "content_hashes" else [uid_of(corpus_id, id) for id in ids]
    rows = tx.rows_in_batches(statements("tombstones")[_IN_USE[kind]], keys, corpus_id=corpus_id)
    return {row["id"] for row in rows}

"""Tombstones: ids that the record no longer names and that views and files may still hold."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from stores.neo4j.commit.entities import Effects
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

_KINDS = ("view_ids", "entity_ids", "triple_ids", "content_hashes")

# The statements that return those of the ids that the record names: a document that is indexed again has the same ids.
_IN_USE = {
    "view_ids": "used_view_ids",
    "entity_ids": "used_entities",
    "triple_ids": "used_triples",
    "content_hashes": "used_contents",
}


def write_tombstone(
    tx: Transaction, effects: Effects, entity_ids: Sequence[str], document_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Writes a tombstone for what a transaction deletes, due after `grace` seconds; None if there is nothing to list.

    Triples are listed although a chunk may still assert them. The reader of the tombstone selects the orphans, and
    holds no lock for that.
    """
    corpus_id = effects.corpus_id
    tombstone = Tombstone(
        id=0,
        corpus_id=corpus_id,
        view_ids=tuple(sorted(effects.view_ids)),
        entity_ids=tuple(sorted(entity_ids)),
        triple_ids=tuple(sorted(effects.triples)),
        content_hashes=tuple(_orphans(tx, corpus_id, "content_hashes", sorted(effects.content_hashes))),
    )
    return insert_tombstone(tx, tombstone, document_ids, grace)


def insert_tombstone(
    tx: Transaction, tombstone: Tombstone, document_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Inserts a tombstone, due after `grace` seconds, and returns it with its id; None if it lists nothing."""
    if not any(getattr(tombstone, kind) for kind in _KINDS):
        return None
    row = tx.rows(
        statements("tombstones")["insert"],
        corpus_id=tombstone.corpus_id,
        grace=grace,
        documents=list(document_ids),
        payload=dump({kind: list(getattr(tombstone, kind)) for kind in _KINDS}),
    )[0]
    return replace(tombstone, id=row["id"])


def due_tombstones(tx: Transaction, corpus_id: str) -> list[Tombstone]:
    """Returns the tombstones that are due and whose documents have no unfinished revision, with all their ids."""
    due = []
    for row in tx.rows(statements("tombstones")["due"], corpus_id=corpus_id):
        payload: dict[str, list[str]] = json.loads(row["payload"])
        due.append(Tombstone(id=row["id"], corpus_id=corpus_id, **_tuples(payload)))
    return due


def select_orphans(tx: Transaction, tombstone: Tombstone) -> Tombstone:
    """Returns the tombstone without the ids that the record names again."""
    ids = {kind: _orphans(tx, tombstone.corpus_id, kind, getattr(tombstone, kind)) for kind in _KINDS}
    return Tombstone(id=tombstone.id, corpus_id=tombstone.corpus_id, **_tuples(ids))


def merge_tombstones(tombstones: Sequence[Tombstone]) -> Tombstone:
    """Returns a tombstone with the id of the last one that lists the ids of all. At least one is given."""
    ids = {kind: {id for one in tombstones for id in getattr(one, kind)} for kind in _KINDS}
    last = tombstones[-1]
    return Tombstone(id=last.id, corpus_id=last.corpus_id, **_tuples({kind: sorted(ids[kind]) for kind in _KINDS}))


def delete_tombstones(tx: Transaction, tombstones: Sequence[Tombstone]) -> None:
    uids = sorted(uid_of(one.corpus_id, str(one.id)) for one in tombstones)
    tx.run_batches(statements("tombstones")["delete"], uids)


def _orphans(tx: Transaction, corpus_id: str, kind: str, ids: Collection[str]) -> list[str]:
    """Returns those of the ids that the record does not name, in their order."""
    keys = list(ids) if kind == "content_hashes" else [uid_of(corpus_id, id) for id in ids]
    rows = tx.rows_in_batches(statements("tombstones")[_IN_USE[kind]], keys, corpus_id=corpus_id)
    used = {row["id"] for row in rows}
    return [id for id in ids if id not in used]


def _tuples(ids: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(ids[kind]) for kind in _KINDS}

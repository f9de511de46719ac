"""What views and snapshots need to follow the record: its change log, and tombstones.

- A change raises the generation of its corpus. Snapshots read in the change log what changed since theirs.
- A tombstone lists ids that the record no longer names and that views and files may still hold. The port of tombstones
  is in `commits`, as it also deletes the leftovers of slices.

The functions run in the transaction of the caller.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from core.record_policy.commits import (
    BLOCKING,
    KEPT_SECONDS,
    KINDS,
    ids_of,
    is_empty,
    make_tombstone,
    merge_ids,
    without,
)
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Transaction, statements
from stores.record_rows import dump


def raise_generation(tx: Transaction, corpus_id: str) -> int:
    """Raises and returns the generation, under which the changes of the transaction are logged."""
    return int(tx.rows(statements("change_log")["raise_generation"], corpus_id=corpus_id)[0]["generation"])


def log_changes(
    tx: Transaction,
    corpus_id: str,
    generation: int,
    *,
    put: Iterable[str] = (),
    deleted: Iterable[str] = (),
    synonyms: Iterable[str] = (),
) -> None:
    """Logs the ids of chunks that were written or deleted, and of entities whose synonyms were written.

    Several calls may log a chunk as both. Readers of the log then read what is stored now.
    """
    changes = {"put": sorted(put), "deleted": sorted(deleted), "synonyms": sorted(synonyms)}
    if any(changes.values()):
        uid = f"{corpus_id}:{generation}"
        tx.run(statements("change_log")["append"], uid=uid, corpus_id=corpus_id, generation=generation, **changes)


def corpora_with_expired_changes(tx: Transaction) -> list[str]:
    """Returns the ids of the corpora for which `delete_expired_changes` has something to delete."""
    return [row["id"] for row in tx.rows(statements("change_log")["corpora_with_expired"], kept=KEPT_SECONDS)]


def delete_expired_changes(tx: Transaction, corpus_id: str) -> None:
    """Deletes changes that are older than `KEPT_SECONDS`, and records up to which generation they are deleted."""
    tx.run(statements("change_log")["delete_expired"], corpus_id=corpus_id, kept=KEPT_SECONDS)


# The statements that select the ids that the record names: a document that is indexed again has the same ids.
_IN_USE = {
    "view_ids": "used_view_ids",
    "entity_ids": "used_entities",
    "triple_ids": "used_triples",
    "content_hashes": "used_contents",
}


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
    return without(tombstone, {kind: used_ids(tx, tombstone.corpus_id, kind, ids[kind]) for kind in KINDS})


def merge_tombstones(tombstones: Sequence[Tombstone]) -> Tombstone:
    """Returns a tombstone that lists the ids of all the given tombstones (at least one). Its id is the last one's."""
    return make_tombstone(tombstones[-1].id, tombstones[-1].corpus_id, merge_ids(tombstones))


def delete_tombstones(tx: Transaction, tombstones: Sequence[Tombstone]) -> None:
    uids = sorted(uid_of(tombstone.corpus_id, str(tombstone.id)) for tombstone in tombstones)
    tx.run_batches(statements("tombstones")["delete"], uids)


def used_ids(tx: Transaction, corpus_id: str, kind: str, ids: Collection[str]) -> set[str]:
    """Returns the ids that the record names."""
    keys = list(ids) if kind == "content_hashes" else [uid_of(corpus_id, id) for id in ids]
    rows = tx.rows_in_batches(statements("tombstones")[_IN_USE[kind]], keys, corpus_id=corpus_id)
    return {row["id"] for row in rows}

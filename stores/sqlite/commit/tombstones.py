"""Tombstones: what the record names no more and views may still hold."""

import json
from collections.abc import Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from stores.payloads import dump
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import id_list

__all__ = ["bury", "clear", "due", "unnamed"]

_KINDS = ("view_ids", "entity_ids", "triple_ids", "content_hashes")

# Ids that the record names again: a document that came back has the same ids as before.
_NAMED_AGAIN = {
    "view_ids": "SELECT view_id FROM chunks WHERE corpus_id = ? AND view_id IN (SELECT value FROM json_each(?))",
    "entity_ids": "SELECT id FROM entities WHERE corpus_id = ? AND id IN (SELECT value FROM json_each(?))",
    "triple_ids": "SELECT triple_id FROM facts WHERE corpus_id = ? AND triple_id IN (SELECT value FROM json_each(?))",
    "content_hashes": (
        "SELECT content_hash FROM revisions WHERE corpus_id = ? AND content_hash IN (SELECT value FROM json_each(?))"
    ),
}


def bury(cx: Connection, tombstone: Tombstone, documents: Sequence[str], grace: float) -> Tombstone | None:
    """Write a tombstone, due after `grace` seconds; None if there is nothing to bury."""
    if not any(getattr(tombstone, kind) for kind in _KINDS):
        return None
    payload = {kind: list(getattr(tombstone, kind)) for kind in _KINDS}
    cursor = cx.execute(
        "INSERT INTO tombstones (corpus_id, due_at, documents, payload) VALUES (?, ?, ?, ?)",
        (tombstone.corpus_id, now() + grace, id_list(documents), dump(payload)),
    )
    return replace(tombstone, id=cursor.lastrowid or 0)


def due(cx: Connection, corpus_id: str) -> list[Tombstone]:
    """See `core.ports.record.Tombstones.list_due`."""
    rows = cx.execute(
        """
        SELECT * FROM tombstones t WHERE corpus_id = ? AND due_at <= ?
        AND NOT EXISTS (
            SELECT 1 FROM json_each(t.documents) d JOIN revisions r ON r.document_id = d.value
            WHERE r.corpus_id = t.corpus_id AND r.state IN ('queued', 'loading', 'extracting', 'writing')
        ) ORDER BY id
        """,
        (corpus_id, now()),
    ).fetchall()
    found = []
    for row in rows:
        payload: dict[str, list[str]] = json.loads(row["payload"])
        found.append(Tombstone(id=row["id"], corpus_id=corpus_id, **{kind: tuple(payload[kind]) for kind in _KINDS}))
    return found


def unnamed(cx: Connection, tombstone: Tombstone) -> Tombstone:
    """See `core.ports.record.Tombstones.select_orphans`."""
    gone = {kind: _still_gone(cx, tombstone.corpus_id, kind, getattr(tombstone, kind)) for kind in _KINDS}
    return Tombstone(id=tombstone.id, corpus_id=tombstone.corpus_id, **gone)


def _still_gone(cx: Connection, corpus_id: str, kind: str, ids: Sequence[str]) -> tuple[str, ...]:
    named = {row[0] for row in cx.execute(_NAMED_AGAIN[kind], (corpus_id, id_list(ids)))}
    return tuple(id for id in ids if id not in named)


def clear(cx: Connection, tombstones: Sequence[Tombstone]) -> None:
    cx.executemany("DELETE FROM tombstones WHERE id = ?", [(t.id,) for t in tombstones])

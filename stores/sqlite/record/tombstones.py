"""Tombstones in SQLite: ids that the record deleted, until their view entries are deleted for certain.

The functions of one transaction come first, then the port.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from core.ports.record import Tombstone
from core.record_policy.commits import BLOCKING, KINDS, ids_of, is_empty, make_tombstone, without
from stores.record_rows import dump
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.rows import id_list, marks

_AMONG = "IN (SELECT from_hex(value) FROM json_each(?))"
_NAMED = {
    "view_ids": f"SELECT view_id FROM chunks WHERE corpus_id = ? AND raw_view_id {_AMONG}",
    "entity_ids": f"SELECT id FROM entities WHERE corpus_id = ? AND raw_id {_AMONG}",
    "triple_ids": """
        SELECT j.value FROM json_each(?2) j CROSS JOIN fact_rows f ON f.triple = from_hex(j.value)
        CROSS JOIN chunk_rows c ON c.number = f.chunk CROSS JOIN corpus_numbers k ON k.number = c.corpus WHERE k.id = ?1
    """,  # CROSS JOIN keeps the order: else SQLite reads all facts of the corpus
    "content_hashes": """
        SELECT j.value FROM json_each(?2) j
        CROSS JOIN revision_rows r ON substr(r.content_hash, 1, 4) = substr(pack_hash(j.value), 1, 4)
        WHERE r.content_hash = pack_hash(j.value) AND r.corpus = (SELECT number FROM corpus_numbers WHERE id = ?1)
    """,
}
"""The ids of each kind that the record names."""


def write(cx: Connection, tombstone: Tombstone, documents: Sequence[str], grace: float) -> Tombstone | None:
    """Writes a tombstone, due after `grace` seconds, and returns it with its id; None if it is empty."""
    if is_empty(tombstone):
        return None
    cursor = cx.execute(
        "INSERT INTO tombstones (corpus_id, due_at, documents, payload) VALUES (?, ?, ?, ?)",
        (tombstone.corpus_id, now() + grace, id_list(documents), dump(ids_of(tombstone))),
    )
    return replace(tombstone, id=cursor.lastrowid or 0)


def _list_due(cx: Connection, corpus_id: str) -> list[Tombstone]:
    """See `core.ports.record.Tombstones.list_due`."""
    rows = cx.execute(
        f"""
        SELECT * FROM tombstones t WHERE corpus_id = ? AND due_at <= ?
        AND NOT EXISTS (
            SELECT 1 FROM json_each(t.documents) j
            CROSS JOIN documents d ON d.corpus_id = t.corpus_id AND d.raw_id = from_hex(j.value)
            CROSS JOIN revision_rows r ON r.document = d.number WHERE r.state IN ({marks(BLOCKING)})
        ) ORDER BY id
        """,
        (corpus_id, now(), *BLOCKING),
    ).fetchall()
    return [make_tombstone(row["id"], corpus_id, json.loads(row["payload"])) for row in rows]


def select_orphans(cx: Connection, tombstone: Tombstone) -> Tombstone:
    """See `core.ports.record.Tombstones.select_orphans`."""
    corpus_id = tombstone.corpus_id
    return without(tombstone, {kind: select_named(cx, corpus_id, kind, getattr(tombstone, kind)) for kind in KINDS})


def select_named(cx: Connection, corpus_id: str, kind: str, ids: Collection[str]) -> set[str]:
    """Returns the given ids of a kind that the record names."""
    if not ids:
        return set()
    return {row[0] for row in cx.execute(_NAMED[kind], (corpus_id, id_list(ids)))}


class SqliteTombstones(SqlitePort):
    """Implements `core.ports.record.Tombstones`."""

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        def work(cx: Connection) -> None:
            if cx.execute("SELECT 1 FROM corpora WHERE id = ?", (tombstone.corpus_id,)).fetchone():
                write(cx, tombstone, documents, grace)

        await self._database.write(work)

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        return await self._database.read(lambda cx: _list_due(cx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda cx: select_orphans(cx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        def work(cx: Connection) -> None:
            cx.executemany("DELETE FROM tombstones WHERE id = ?", [(one.id,) for one in tombstones])

        await self._database.write(work)

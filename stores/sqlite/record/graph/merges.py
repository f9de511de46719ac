"""The port of merges of entities in SQLite."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.graph import EntityMerge
from core.ids import merge_id
from core.ports.record import GraphMerge
from core.record_policy.errors import corpus_missing
from core.record_policy.merges import check_merge, entity_missing, merge_missing, select_adoptable
from stores.sqlite.changes import raise_generation
from stores.sqlite.database import Connection, SqliteDatabase, now

__all__ = ["SqliteEntityMerges", "copy_merges", "read_merges"]


class SqliteEntityMerges:
    """Implements `core.ports.record.EntityMerges`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def merge(self, corpus_id: str, from_id: str, into_id: str) -> EntityMerge:
        def work(cx: Connection) -> EntityMerge:
            raise_generation(cx, corpus_id)
            check_merge(_present(cx, corpus_id), from_id, into_id)
            names = [_name(cx, corpus_id, id) for id in (from_id, into_id)]
            _insert(cx, corpus_id, [GraphMerge(from_id, names[0], into_id, names[1])])
            return _find(cx, corpus_id, merge_id(from_id, into_id))

        return await self._database.write(work)

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        def work(cx: Connection) -> EntityMerge:
            raise_generation(cx, corpus_id)
            found = _find(cx, corpus_id, merge_id)
            cx.execute("DELETE FROM merges WHERE corpus_id = ? AND from_id = ?", (corpus_id, found.from_id))
            return found

        return await self._database.write(work)

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        return await self._database.read(lambda cx: _list(cx, corpus_id))

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        def work(cx: Connection) -> Sequence[GraphMerge]:
            added, refused = select_adoptable(_present(cx, corpus_id), merges)
            if added:
                raise_generation(cx, corpus_id)
                _insert(cx, corpus_id, added)
            return refused

        return await self._database.write(work)


def read_merges(cx: Connection, corpus_id: str) -> tuple[GraphMerge, ...]:
    """Returns the merges by the id of the merged entity."""
    rows = cx.execute(
        "SELECT from_id, from_name, into_id, into_name FROM merges WHERE corpus_id = ? ORDER BY from_id", (corpus_id,)
    )
    return tuple(GraphMerge(*row) for row in rows)


def copy_merges(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Copies the merges of a corpus to another one, which has none."""
    copied = cx.execute(
        """
        INSERT INTO merges (corpus_id, from_id, from_name, into_id, into_name, merged_at)
        SELECT ?, from_id, from_name, into_id, into_name, merged_at FROM merges WHERE corpus_id = ?
        """,
        (to_corpus, from_corpus),
    )
    if copied.rowcount:
        raise_generation(cx, to_corpus)


def _present(cx: Connection, corpus_id: str) -> Mapping[str, str]:
    return {merge.from_id: merge.into_id for merge in read_merges(cx, corpus_id)}


def _name(cx: Connection, corpus_id: str, entity_id: str) -> str:
    row = cx.execute(
        "SELECT name FROM entities WHERE corpus_id = ? AND raw_id = from_hex(?)", (corpus_id, entity_id)
    ).fetchone()
    if row is None:
        raise entity_missing(entity_id)
    return str(row["name"])


def _insert(cx: Connection, corpus_id: str, merges: Sequence[GraphMerge]) -> None:
    cx.executemany(
        "INSERT INTO merges (corpus_id, from_id, from_name, into_id, into_name, merged_at) VALUES (?, ?, ?, ?, ?, ?)",
        [(corpus_id, *merge, now()) for merge in merges],
    )


def _list(cx: Connection, corpus_id: str) -> list[EntityMerge]:
    if cx.execute("SELECT 1 FROM corpora WHERE id = ?", (corpus_id,)).fetchone() is None:
        raise corpus_missing(corpus_id)
    rows = cx.execute("SELECT * FROM merges WHERE corpus_id = ? ORDER BY merged_at DESC, from_id", (corpus_id,))
    return [_merge_from_row(row) for row in rows]


def _find(cx: Connection, corpus_id: str, id: str) -> EntityMerge:
    for merge in _list(cx, corpus_id):
        if merge.id == id:
            return merge
    raise merge_missing(id)


def _merge_from_row(row: sqlite3.Row) -> EntityMerge:
    return EntityMerge(
        id=merge_id(row["from_id"], row["into_id"]),
        from_id=row["from_id"],
        from_name=row["from_name"],
        into_id=row["into_id"],
        into_name=row["into_name"],
        merged_at=datetime.fromtimestamp(row["merged_at"], UTC),
    )

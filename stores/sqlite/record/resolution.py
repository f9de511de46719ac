"""What owners decide on a graph, in SQLite: rejected pairs and the threshold of proposals, and the schema."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime

from core.graph import EntityRejection
from core.ids import pair_id
from core.record_policy.errors import corpus_missing
from core.record_policy.merges import check_rejection, rejection_missing, select_rejections
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.record.graph import name_entity


class SqliteEntityResolution(SqlitePort):
    """Implements `core.ports.record.EntityResolution`."""

    async def reject(self, corpus_id: str, first_id: str, second_id: str) -> EntityRejection:
        def work(cx: Connection) -> EntityRejection:
            present = _list(cx, corpus_id)
            id = pair_id(first_id, second_id)
            if found := next((rejection for rejection in present if rejection.id == id), None):
                return found
            first, second = check_rejection(len(present), first_id, second_id)
            for entity_id in (first_id, second_id):
                name_entity(cx, corpus_id, entity_id)
            cx.execute("INSERT INTO rejections VALUES (?, ?, ?, ?)", (corpus_id, first, second, now()))
            return _find(cx, corpus_id, id)

        return await self._database.write(work)

    async def withdraw(self, corpus_id: str, rejection_id: str) -> EntityRejection:
        def work(cx: Connection) -> EntityRejection:
            found = _find(cx, corpus_id, rejection_id)
            cx.execute(
                "DELETE FROM rejections WHERE corpus_id = ? AND first_id = ? AND second_id = ?",
                (corpus_id, found.first_id, found.second_id),
            )
            return found

        return await self._database.write(work)

    async def list(self, corpus_id: str) -> Sequence[EntityRejection]:
        return await self._database.read(lambda cx: _list(cx, corpus_id))

    async def adopt(self, corpus_id: str, pairs: Sequence[tuple[str, str]]) -> int:
        def work(cx: Connection) -> int:
            added, left_out = select_rejections({(one.first_id, one.second_id) for one in _list(cx, corpus_id)}, pairs)
            rows = [(corpus_id, *pair, now()) for pair in added]
            cx.executemany("INSERT INTO rejections VALUES (?, ?, ?, ?)", rows)
            return left_out

        return await self._database.write(work)

    async def get_threshold(self, corpus_id: str) -> float | None:
        def work(cx: Connection) -> float | None:
            row = cx.execute("SELECT threshold FROM thresholds WHERE corpus_id = ?", (corpus_id,)).fetchone()
            return None if row is None else float(row["threshold"])

        return await self._database.read(work)

    async def set_threshold(self, corpus_id: str, threshold: float | None) -> None:
        def work(cx: Connection) -> None:
            _check_corpus(cx, corpus_id)
            if threshold is None:
                cx.execute("DELETE FROM thresholds WHERE corpus_id = ?", (corpus_id,))
            else:
                cx.execute("INSERT OR REPLACE INTO thresholds VALUES (?, ?)", (corpus_id, threshold))

        await self._database.write(work)


class SqliteGraphSchemas(SqlitePort):
    """Implements `core.ports.record.GraphSchemas`."""

    async def get(self, corpus_id: str) -> str | None:
        def work(cx: Connection) -> str | None:
            _check_corpus(cx, corpus_id)
            row = cx.execute("SELECT text FROM graph_schemas WHERE corpus_id = ?", (corpus_id,)).fetchone()
            return None if row is None else str(row["text"])

        return await self._database.read(work)

    async def set(self, corpus_id: str, text: str | None) -> None:
        def work(cx: Connection) -> None:
            _check_corpus(cx, corpus_id)
            cx.execute("DELETE FROM graph_schemas WHERE corpus_id = ?", (corpus_id,))
            if text is not None:
                cx.execute("INSERT INTO graph_schemas VALUES (?, ?)", (corpus_id, text))

        await self._database.write(work)


def copy_schema(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Gives a corpus the schema of another corpus, or none, in place of its own."""
    cx.execute("DELETE FROM graph_schemas WHERE corpus_id = ?", (to_corpus,))
    cx.execute(
        "INSERT INTO graph_schemas SELECT ?, text FROM graph_schemas WHERE corpus_id = ?", (to_corpus, from_corpus)
    )


def copy_resolution(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Copies the rejections and the threshold of a corpus to a corpus without any."""
    cx.execute(
        """
        INSERT INTO rejections SELECT ?, first_id, second_id, rejected_at FROM rejections WHERE corpus_id = ?
        """,
        (to_corpus, from_corpus),
    )
    cx.execute(
        "INSERT INTO thresholds SELECT ?, threshold FROM thresholds WHERE corpus_id = ?", (to_corpus, from_corpus)
    )


def _check_corpus(cx: Connection, corpus_id: str) -> None:
    if cx.execute("SELECT 1 FROM corpora WHERE id = ?", (corpus_id,)).fetchone() is None:
        raise corpus_missing(corpus_id)


def _list(cx: Connection, corpus_id: str) -> list[EntityRejection]:
    _check_corpus(cx, corpus_id)
    rows = cx.execute(
        "SELECT * FROM rejections WHERE corpus_id = ? ORDER BY rejected_at DESC, first_id, second_id", (corpus_id,)
    )
    return [_rejection_from_row(row) for row in rows]


def _find(cx: Connection, corpus_id: str, id: str) -> EntityRejection:
    for rejection in _list(cx, corpus_id):
        if rejection.id == id:
            return rejection
    raise rejection_missing(id)


def _rejection_from_row(row: sqlite3.Row) -> EntityRejection:
    return EntityRejection(
        id=pair_id(row["first_id"], row["second_id"]),
        first_id=row["first_id"],
        second_id=row["second_id"],
        rejected_at=datetime.fromtimestamp(row["rejected_at"], UTC),
    )

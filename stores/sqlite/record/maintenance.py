"""The port of maintenance in SQLite: corpora with work, expired leases, orphans, and the deletion of corpora."""

from core.documents import RevisionState
from core.ports.record.maintenance import DocumentCount
from stores.sqlite import changes
from stores.sqlite.commit.entities import delete_entities
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.leases import claims
from stores.sqlite.leases.endings import expire_all
from stores.sqlite.leases.states import add_count, finish_if_done
from stores.sqlite.numbers import delete_numbered_rows
from stores.sqlite.record.jobs import close_abandoned
from stores.sqlite.record.receipts import delete_expired_receipts

__all__ = ["SqliteMaintenance"]

_TABLES = (
    *("synonyms", "merges", "unsettled", "tombstones"),
    *("questions", "question_events", "question_sources"),
)


class SqliteMaintenance:
    """Implements `core.ports.record.Maintenance`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def list_corpora_with_work(self) -> list[str]:
        return await self._database.read(claims.list_corpora_with_work)

    async def expire_leases(self, *, except_worker: str | None = None) -> int:
        return await self._database.write(lambda cx: expire_all(cx, except_worker))

    async def count_expired_leases(self, corpus_id: str) -> int:
        return await self._database.read(lambda cx: claims.count_expired(cx, corpus_id))

    async def count_documents(self) -> list[DocumentCount]:
        return await self._database.read(_count_documents)

    async def count_orphans(self, corpus_id: str) -> int:
        return len(await self._database.read(lambda cx: _orphans(cx, corpus_id)))

    async def delete_orphans(self, corpus_id: str) -> int:
        def work(cx: Connection) -> int:
            orphans = _orphans(cx, corpus_id)
            if orphans:
                delete_entities(cx, corpus_id, orphans)
                changes.raise_generation(cx, corpus_id)
            return len(orphans)

        return await self._database.write(work)

    async def list_deleted_corpora(self) -> list[str]:
        def work(cx: Connection) -> list[str]:
            rows = cx.execute("SELECT id FROM corpora WHERE name IS NULL AND beside IS NULL ORDER BY id")
            return [row["id"] for row in rows]

        return await self._database.read(work)

    async def delete_corpus_rows(self, corpus_id: str) -> None:
        def work(cx: Connection) -> None:
            row = cx.execute(
                "SELECT drop_job FROM corpora WHERE id = ? AND name IS NULL AND beside IS NULL", (corpus_id,)
            ).fetchone()
            if row is None:
                return
            delete_numbered_rows(cx, corpus_id)
            for table in _TABLES:
                cx.execute(f"DELETE FROM {table} WHERE corpus_id = ?", (corpus_id,))
            cx.execute("DELETE FROM corpora WHERE id = ?", (corpus_id,))
            add_count(cx, row["drop_job"], RevisionState.QUEUED.value, -1)
            add_count(cx, row["drop_job"], RevisionState.DELETED.value, 1)
            finish_if_done(cx, row["drop_job"])

        await self._database.write(work)

    async def prune(self) -> None:
        def work(cx: Connection) -> None:
            changes.prune(cx)
            close_abandoned(cx)
            delete_expired_receipts(cx)

        await self._database.write(work)
        await self._database.empty_log()


def _count_documents(cx: Connection) -> list[DocumentCount]:
    rows = cx.execute(
        """
        SELECT c.name, r.state, count(*) AS documents, min(r.updated_at) AS since
        FROM corpora c JOIN documents d ON d.corpus_id = c.id
        JOIN revision_rows r ON r.document = d.number AND r.number = d.newest
        WHERE c.name IS NOT NULL GROUP BY c.name, r.state ORDER BY c.name, r.state
        """
    )
    at = now()
    return [
        DocumentCount(
            corpus=row["name"],
            state=row["state"],
            documents=row["documents"],
            waiting_seconds=max(0.0, at - row["since"]),
        )
        for row in rows
    ]


def _orphans(cx: Connection, corpus_id: str) -> list[str]:
    """Returns the ids of the entities that no chunk mentions."""
    rows = cx.execute(
        """
        SELECT id FROM entities e WHERE corpus_id = ? AND NOT EXISTS (
            SELECT 1 FROM form_rows f CROSS JOIN mention_rows m ON m.form = f.number WHERE f.entity = e.number
        )
        """,
        (corpus_id,),
    )
    return [row["id"] for row in rows]

"""Maintenance in SQLite: corpora with work, expired leases, orphans and deleted corpora; and the port of receipts."""

from core.documents import RevisionState
from core.ports.record.commits import DocumentCount
from core.record_policy.submissions import RECEIPT_SECONDS, PresentReceipt, has_answer
from stores.sqlite import changes
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.record import claims
from stores.sqlite.record.commits import delete_entities
from stores.sqlite.record.jobs import close_abandoned
from stores.sqlite.record.revisions import INDEXED_STATES, add_count, expire_all, finish_if_done
from stores.sqlite.rows import delete_numbered_rows

_TABLES = (
    *("synonyms", "merges", "automatic_merges", "rejections", "thresholds"),
    *("graph_schemas", "unsettled", "tombstones"),
    *("questions", "question_events", "question_sources"),
)

_NAMED = """
    SELECT c.name, n.corpus, n.documents FROM corpora c
    JOIN corpus_numbers k ON k.id = c.id JOIN corpus_counts n ON n.corpus = k.number
    WHERE c.name IS NOT NULL ORDER BY c.name
"""
_NOT_INDEXED = " UNION ALL ".join(
    f"""
    SELECT r.state, count(*) AS documents, sum(d.hidden = 0 AND d.current IS NOT NULL) AS seen,
        min(r.updated_at) AS since
    FROM revision_rows r INDEXED BY {index}
    CROSS JOIN document_rows d ON d.number = r.document AND d.newest = r.number
    WHERE r.corpus = ?1 AND r.{condition} GROUP BY r.state
    """
    for index, condition in INDEXED_STATES.items()
)
"""Documents by the state of their newest revision, which is not `indexed`. All others that readers see are."""


class SqliteMaintenance(SqlitePort):
    """Implements `core.ports.record.Maintenance`."""

    async def list_corpora_with_work(self) -> list[str]:
        return await self._database.read(claims.list_corpora_with_work)

    async def expire_leases(self) -> int:
        return await self._database.write(expire_all)

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
    at, found = now(), list[DocumentCount]()
    for corpus in cx.execute(_NAMED).fetchall():
        states = {row["state"]: row for row in cx.execute(_NOT_INDEXED, (corpus["corpus"],))}
        indexed = corpus["documents"] - sum(row["seen"] for row in states.values())
        counts = {state: row["documents"] for state, row in states.items()}
        if indexed:
            counts[RevisionState.INDEXED.value] = indexed
        found += (
            DocumentCount(
                corpus=corpus["name"],
                state=state,
                documents=counts[state],
                waiting_seconds=max(0.0, at - states[state]["since"]) if state in states else 0.0,
            )
            for state in sorted(counts)
        )
    return found


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


class SqliteReceipts(SqlitePort):
    """Implements `core.ports.record.Receipts`."""

    async def begin(self, key: str, request: str, *, lease_seconds: float) -> str | None:
        def work(cx: Connection) -> str | None:
            row = cx.execute("SELECT request, answer, at FROM receipts WHERE key = ?", (key,)).fetchone()
            present = row and PresentReceipt(request=row["request"], answer=row["answer"], age=now() - row["at"])
            if present and has_answer(present, request, lease_seconds):
                return str(present.answer)
            cx.execute("INSERT OR REPLACE INTO receipts VALUES (?, ?, NULL, ?)", (key, request, now()))
            return None

        return await self._database.write(work)

    async def finish(self, key: str, answer: str) -> None:
        await self._database.write(
            lambda cx: cx.execute("UPDATE receipts SET answer = ?, at = ? WHERE key = ?", (answer, now(), key))
        )

    async def release(self, key: str) -> None:
        await self._database.write(
            lambda cx: cx.execute("DELETE FROM receipts WHERE key = ? AND answer IS NULL", (key,))
        )


def delete_expired_receipts(cx: Connection) -> None:
    cx.execute("DELETE FROM receipts WHERE at < ?", (now() - RECEIPT_SECONDS,))

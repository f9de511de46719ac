"""The port of receipts in SQLite."""

from core.record_policy.submissions import RECEIPT_SECONDS, PresentReceipt, has_answer
from stores.sqlite.database import Connection, SqliteDatabase, now


class SqliteReceipts:
    """Implements `core.ports.record.Receipts`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

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

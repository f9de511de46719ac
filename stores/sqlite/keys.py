"""The port of API keys in SQLite."""

from collections.abc import Mapping, Sequence

from core.keys import ApiKey, KeyUsage
from core.ports.record.questions import KeyMinute
from core.record_policy.errors import key_missing
from stores.record_rows import MINUTE, dump_key, load_key
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.questions import delete_of_key


class SqliteKeys(SqlitePort):
    """Implements `core.ports.record.questions.Keys`."""

    async def create(self, key: ApiKey) -> None:
        row = (key.id, dump_key(key), key.created_at.timestamp())
        await self._database.write(
            lambda cx: cx.execute("INSERT INTO api_keys (id, content, created_at) VALUES (?, ?, ?)", row)
        )

    async def list(self) -> Sequence[ApiKey]:
        def work(cx: Connection) -> list[ApiKey]:
            rows = cx.execute("SELECT * FROM api_keys ORDER BY created_at, id")
            return [load_key(row.__getitem__) for row in rows]

        return await self._database.read(work)

    async def revoke(self, key_id: str) -> ApiKey:
        def work(cx: Connection) -> ApiKey:
            cx.execute("UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", (now(), key_id))
            return _read(cx, key_id)

        return await self._database.write(work)

    async def delete(self, key_id: str) -> ApiKey:
        def work(cx: Connection) -> ApiKey:
            key = _read(cx, key_id)
            cx.execute("DELETE FROM api_keys WHERE id = ?", (key_id,))
            cx.execute("DELETE FROM api_key_usage WHERE key_id = ?", (key_id,))
            delete_of_key(cx, key_id)
            return key

        key = await self._database.write(work)
        await self._database.empty_log()
        return key

    async def add_usage(self, used: Mapping[str, KeyUsage]) -> KeyMinute:
        def work(cx: Connection) -> KeyMinute:
            minute, passed = divmod(now(), MINUTE)
            cx.execute("DELETE FROM api_key_usage WHERE minute < ?", (int(minute),))
            cx.executemany(
                """
                INSERT INTO api_key_usage (key_id, minute, requests, tokens, ingest_bytes) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (key_id, minute) DO UPDATE SET requests = requests + excluded.requests,
                    tokens = tokens + excluded.tokens, ingest_bytes = ingest_bytes + excluded.ingest_bytes
                """,
                [(id, int(minute), one.requests, one.tokens, one.ingest_bytes) for id, one in used.items()],
            )
            rows = cx.execute("SELECT * FROM api_key_usage WHERE minute = ?", (int(minute),)).fetchall()
            sums = {
                row["key_id"]: KeyUsage(
                    requests=row["requests"], tokens=row["tokens"], ingest_bytes=row["ingest_bytes"]
                )
                for row in rows
                if row["key_id"] in used
            }
            return KeyMinute(number=int(minute), seconds=MINUTE - passed, usage=sums)

        return await self._database.write(work)


def _read(cx: Connection, key_id: str) -> ApiKey:
    row = cx.execute("SELECT * FROM api_keys WHERE id = ?", (key_id,)).fetchone()
    if row is None:
        raise key_missing(key_id)
    return load_key(row.__getitem__)

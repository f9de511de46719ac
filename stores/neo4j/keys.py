"""The port of API keys in Neo4j."""

from collections.abc import Mapping, Sequence

from core.keys import ApiKey, KeyUsage
from core.ports.record.questions import KeyMinute
from core.record_policy.errors import key_missing
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.transaction import Transaction, statements
from stores.neo4j.questions import delete_of_key
from stores.record_rows import MINUTE, dump_key, load_key

_CYPHER = statements("keys")


class Neo4jKeys(Neo4jPort):
    """Implements `core.ports.record.questions.Keys`."""

    async def create(self, key: ApiKey) -> None:
        content, at = dump_key(key), key.created_at.timestamp()
        await self._database.write_unlocked(
            lambda tx: tx.run(_CYPHER["create"], id=key.id, content=content, created_at=at)
        )

    async def list(self) -> Sequence[ApiKey]:
        rows = await self._database.read(lambda tx: tx.rows(_CYPHER["all"]))
        return [load_key(row.get) for row in rows]

    async def revoke(self, key_id: str) -> ApiKey:
        def work(tx: Transaction) -> ApiKey:
            tx.run(_CYPHER["revoke"], id=key_id)
            return _read(tx, key_id)

        return await self._database.write_unlocked(work)

    async def delete(self, key_id: str) -> ApiKey:
        def work(tx: Transaction) -> ApiKey:
            key = _read(tx, key_id)
            tx.run(_CYPHER["delete"], id=key_id)
            tx.run(_CYPHER["delete_usage"], id=key_id)
            return key

        deleted = await self._database.write_unlocked(work)
        while await self._database.write_unlocked(lambda tx: delete_of_key(tx, key_id)):
            pass
        return deleted

    async def add_usage(self, used: Mapping[str, KeyUsage]) -> KeyMinute:
        # Sorted: all writers lock in one order.
        rows = [{"id": id, **vars(usage)} for id, usage in sorted(used.items())]

        def work(tx: Transaction) -> KeyMinute:
            minute, passed = divmod(tx.now, MINUTE)
            tx.run(_CYPHER["delete_old"], minute=int(minute))
            sums = {
                row["id"]: KeyUsage(requests=row["requests"], tokens=row["tokens"], ingest_bytes=row["ingest_bytes"])
                for row in tx.rows(_CYPHER["add"], rows=rows, minute=int(minute))
            }
            return KeyMinute(number=int(minute), seconds=MINUTE - passed, usage=sums)

        return await self._database.write_unlocked(work)


def _read(tx: Transaction, key_id: str) -> ApiKey:
    row = tx.row(_CYPHER["one"], id=key_id)
    if row is None:
        raise key_missing(key_id)
    return load_key(row.get)

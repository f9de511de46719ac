"""The port `Receipts` in Neo4j."""

from core.ids import new_id
from core.record_policy.submissions import RECEIPT_SECONDS, PresentReceipt, has_answer
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.transaction import Transaction, statements

_LIMIT = 10_000


class Neo4jReceipts:
    """Implements `core.ports.record.Receipts`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def begin(self, key: str, request: str, *, lease_seconds: float) -> str | None:
        def work(tx: Transaction) -> str | None:
            [row] = tx.rows(statements("receipts")["lock"], id=key, token=new_id())
            if row["request"] is not None:
                present = PresentReceipt(request=row["request"], answer=row["answer"], age=row["age"])
                if has_answer(present, request, lease_seconds):
                    return str(present.answer)
            tx.run(statements("receipts")["reserve"], id=key, request=request)
            return None

        return await self._database.write_unlocked(work)

    async def finish(self, key: str, answer: str) -> None:
        await self._database.write_unlocked(lambda tx: tx.run(statements("receipts")["finish"], id=key, answer=answer))

    async def release(self, key: str) -> None:
        await self._database.write_unlocked(lambda tx: tx.run(statements("receipts")["release"], id=key))


def delete_expired_receipts(tx: Transaction) -> None:
    tx.run(statements("receipts")["delete_expired"], seconds=RECEIPT_SECONDS, limit=_LIMIT)

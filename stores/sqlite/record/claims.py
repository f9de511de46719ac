"""The port of claims in SQLite. The record is the queue; the broker only notifies."""

from collections.abc import Sequence

from core.documents import OnConflict, RevisionState
from core.ports.record import Claim, NewRevision
from stores.distinct_keys import refuse_twice
from stores.sqlite.database import Connection, Database
from stores.sqlite.leases import leases
from stores.sqlite.leases.enqueueing import enqueue_into
from stores.sqlite.leases.states import finish_if_done, move

__all__ = ["SqliteClaims"]


class SqliteClaims:
    """Fills `core.ports.record.Claims`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            return leases.take(
                cx,
                corpus_id,
                worker,
                lease_seconds=lease_seconds,
                max_bytes=max_bytes,
                max_documents=max_documents,
            )

        return await self._database.write(work)

    async def enqueue_claimed(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        refuse_twice(revisions)

        def work(cx: Connection) -> list[Claim]:
            documents = enqueue_into(cx, corpus_id, job_id, revisions, OnConflict.REPLACE)
            fresh = [document.id for document in documents if not document.unchanged]
            adopted = leases.adopt(cx, corpus_id, fresh, worker, lease_seconds=lease_seconds)
            finish_if_done(cx, job_id)
            return adopted

        return await self._database.write(work)

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._database.write(lambda cx: leases.renew(cx, claims, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            right = leases.held(cx, claims)
            move(cx, list(right.values()), state)
            return [claim for claim in claims if claim.token not in right]

        return await self._database.write(work)

    async def release(self, claims: Sequence[Claim]) -> None:
        await self._database.write(lambda cx: leases.release(cx, claims))

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(cx: Connection) -> None:
            for seq in leases.held(cx, [claim]).values():
                leases.fail(cx, seq, claim.key, reason)

        await self._database.write(work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        await self._database.write(lambda cx: leases.pause(cx, claims, reason))

"""The port of claims in SQLite. The record is the queue; the broker only notifies."""

from collections.abc import Sequence

from core.documents import OnConflict, RevisionState
from core.ports.record import EVERY_REVISION, Claim, ClaimFilter, ClaimProgress, NewRevision
from core.record_policy.submissions import check_distinct_keys
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.leases import claims as rows
from stores.sqlite.leases import endings
from stores.sqlite.leases.enqueueing import enqueue_into
from stores.sqlite.leases.states import finish_if_done, set_state

__all__ = ["SqliteClaims"]


class SqliteClaims:
    """Implements `core.ports.record.Claims`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        return await self._database.read(lambda cx: rows.list_corpora(cx, only))

    async def claim(
        self,
        corpus_id: str,
        worker: str,
        *,
        lease_seconds: float,
        max_bytes: int,
        max_documents: int = 1000,
        only: ClaimFilter = EVERY_REVISION,
    ) -> list[Claim]:
        return await self._database.write(
            lambda cx: rows.claim_batch(
                cx,
                corpus_id,
                worker,
                lease_seconds=lease_seconds,
                max_bytes=max_bytes,
                max_documents=max_documents,
                only=only,
            )
        )

    async def enqueue_claimed(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        check_distinct_keys(revisions)

        def work(cx: Connection) -> list[Claim]:
            documents = enqueue_into(cx, corpus_id, job_id, revisions, OnConflict.REPLACE)
            new = [document.id for document in documents if not document.unchanged]
            claims = rows.claim_documents(cx, corpus_id, new, worker, lease_seconds=lease_seconds)
            finish_if_done(cx, job_id)
            return claims

        return await self._database.write(work)

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._database.write(lambda cx: rows.renew(cx, claims, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            valid = rows.select_valid(cx, claims)
            set_state(cx, list(valid.values()), state)
            return [claim for claim in claims if claim.token not in valid]

        return await self._database.write(work)

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        def work(cx: Connection) -> None:
            valid = rows.select_valid(cx, [one.claim for one in progress])
            cx.executemany(
                "INSERT OR REPLACE INTO revision_progress VALUES (?, ?, ?)",
                [(valid[one.claim.token], one.passages, one.done) for one in progress if one.claim.token in valid],
            )
            cx.executemany(
                "UPDATE job_progress SET at = ? WHERE job_id = (SELECT job_id FROM revisions WHERE seq = ?)",
                [(now(), seq) for seq in valid.values()],
            )

        await self._database.write(work)

    async def release(self, claims: Sequence[Claim]) -> None:
        def work(cx: Connection) -> None:
            endings.release(cx, list(rows.select_valid(cx, claims).values()))

        await self._database.write(work)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(cx: Connection) -> None:
            for seq in rows.select_valid(cx, [claim]).values():
                endings.fail(cx, seq, claim.key, reason)

        await self._database.write(work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        def work(cx: Connection) -> None:
            valid = rows.select_valid(cx, claims)
            endings.pause(cx, [(valid[one.token], one.job_id) for one in claims if one.token in valid], reason)

        await self._database.write(work)

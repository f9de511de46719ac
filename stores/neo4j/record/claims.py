"""The port of claims in Neo4j. The record is the queue; the broker only notifies."""

from collections.abc import Callable, Sequence

from core.documents import RevisionState
from core.errors import NotFound
from core.ports.record import Claim, NewRevision
from core.record_policy.submissions import check_distinct_keys
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.uids import revision_uid
from stores.neo4j.leases import claims as leases
from stores.neo4j.leases.adopting import adopt
from stores.neo4j.leases.states import move

__all__ = ["Neo4jClaims"]

_OfClaims = Callable[[Transaction, Sequence[Claim]], Sequence[Claim] | None]


class Neo4jClaims:
    """Fills `core.ports.record.Claims`. The claims of a corpus that is deleted are fenced."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        def work(tx: Transaction) -> list[Claim]:
            return leases.take(
                tx,
                corpus_id,
                worker,
                lease_seconds=lease_seconds,
                max_bytes=max_bytes,
                max_documents=max_documents,
            )

        try:
            return await self._database.write(corpus_id, work)
        except NotFound:
            return []

    async def enqueue_claimed(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        check_distinct_keys(revisions)
        return await self._database.write(
            corpus_id,
            lambda tx: adopt(tx, corpus_id, revisions, worker, job_id=job_id, lease_seconds=lease_seconds),
        )

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._of_claims(claims, lambda tx, some: leases.renew(tx, some, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(tx: Transaction, some: Sequence[Claim]) -> list[Claim]:
            right = leases.held(tx, some)
            move(tx, [revision_uid(claim) for claim in some if claim.token in right], state)
            return [claim for claim in some if claim.token not in right]

        return await self._of_claims(claims, work)

    async def release(self, claims: Sequence[Claim]) -> None:
        await self._of_claims(claims, leases.release)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            if leases.held(tx, some):
                leases.fail(tx, [revision_uid(claim)], reason)

        await self._of_claims([claim], work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        await self._of_claims(claims, lambda tx, some: leases.pause(tx, some, reason))

    async def _of_claims(self, claims: Sequence[Claim], work: _OfClaims) -> list[Claim]:
        """Returns what `work` returns for the claims of each corpus; those of a corpus that is deleted are fenced."""
        answers: list[Claim] = []
        for corpus_id in sorted({claim.corpus_id for claim in claims}):
            some = [claim for claim in claims if claim.corpus_id == corpus_id]
            try:
                answers += await self._database.write(corpus_id, _applied(work, some))
            except NotFound:
                answers += some
        return answers


def _applied(work: _OfClaims, claims: Sequence[Claim]) -> Callable[[Transaction], Sequence[Claim]]:
    return lambda tx: work(tx, claims) or ()

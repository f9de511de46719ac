"""The port `Claims` in Neo4j. The record is the queue; the broker only notifies."""

from collections.abc import Callable, Sequence

from core.documents import RevisionState
from core.errors import NotFound
from core.ports.record import EVERY_REVISION, Claim, ClaimFilter, ClaimProgress, NewRevision
from core.record_policy.submissions import check_distinct_keys
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.node_uids import revision_uid
from stores.neo4j.leases import claims as leases
from stores.neo4j.leases.states import move
from stores.neo4j.leases.submissions import enqueue_claimed

__all__ = ["Neo4jClaims"]

_ClaimsWork = Callable[[Transaction, Sequence[Claim]], Sequence[Claim] | None]


class Neo4jClaims:
    """Implements `core.ports.record.Claims`. The claims of a corpus that is deleted are fenced."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        return await self._database.read(lambda tx: leases.claimable_corpora(tx, only))

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
        def work(tx: Transaction) -> list[Claim]:
            return leases.claim_revisions(
                tx,
                corpus_id,
                worker,
                lease_seconds=lease_seconds,
                max_bytes=max_bytes,
                max_documents=max_documents,
                only=only,
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
            lambda tx: enqueue_claimed(tx, corpus_id, revisions, worker, job_id=job_id, lease_seconds=lease_seconds),
        )

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._for_each_corpus(claims, lambda tx, some: leases.renew(tx, some, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(tx: Transaction, some: Sequence[Claim]) -> list[Claim]:
            valid = leases.valid_claims(tx, some)
            move(tx, [revision_uid(claim) for claim in some if claim.token in valid], state)
            return [claim for claim in some if claim.token not in valid]

        return await self._for_each_corpus(claims, work)

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        by_token = {one.claim.token: one for one in progress}

        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            leases.report(tx, [by_token[claim.token] for claim in some])

        await self._for_each_corpus([one.claim for one in progress], work)

    async def release(self, claims: Sequence[Claim]) -> None:
        await self._for_each_corpus(claims, leases.release)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            if leases.valid_claims(tx, some):
                leases.fail(tx, [revision_uid(claim)], reason)

        await self._for_each_corpus([claim], work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        await self._for_each_corpus(claims, lambda tx, some: leases.pause(tx, some, reason))

    async def _for_each_corpus(self, claims: Sequence[Claim], work: _ClaimsWork) -> list[Claim]:
        """Runs `work` for the claims of each corpus, and returns the claims that it returns.

        The claims of a deleted corpus are fenced.
        """
        fenced: list[Claim] = []
        for corpus_id in sorted({claim.corpus_id for claim in claims}):
            some = [claim for claim in claims if claim.corpus_id == corpus_id]
            try:
                fenced += await self._database.write(corpus_id, _bind(work, some))
            except NotFound:
                fenced += some
        return fenced


def _bind(work: _ClaimsWork, claims: Sequence[Claim]) -> Callable[[Transaction], Sequence[Claim]]:
    return lambda tx: work(tx, claims) or ()

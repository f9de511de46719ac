"""The work queue in Neo4j: the record is the queue, the broker only a doorbell."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

from core.documents import RevisionState
from core.errors import InvalidInput, NotFound
from core.graph import Extraction, Synonym
from core.ports.record import Claim, Commit, NewRevision, Outcome, Spent, Staged, Tombstone
from stores.distinct_keys import refuse_twice
from stores.neo4j import trails
from stores.neo4j.commit import change_log, tombstones
from stores.neo4j.commit import synonyms as synonym_rows
from stores.neo4j.commit.bounds import SLICE_ROWS, Bounds
from stores.neo4j.commit.commits import commit
from stores.neo4j.commit.leftovers import delete_abandoned_leftovers
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.node_uids import revision_uid
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases import claims
from stores.neo4j.leases.jobs import abandoned_jobs, close_job, lock_job
from stores.neo4j.leases.states import move
from stores.neo4j.leases.submissions import enqueue_claimed
from stores.neo4j.record import extractions, mending
from stores.neo4j.record.forgetting import forget

__all__ = ["Neo4jWorkQueue"]

_OfClaims = Callable[[Transaction, Sequence[Claim]], Sequence[Claim] | None]


class Neo4jWorkQueue:
    """Fills `core.ports.record.WorkQueue`. Claims of a corpus that is gone are lost."""

    def __init__(self, database: Database, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows`: how many rows of chunks, mentions and facts one transaction writes or removes, more or less."""
        self._database = database
        self._slice_rows = slice_rows

    async def waiting(self) -> list[str]:
        return await self._database.read(claims.corpora_with_work)

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        def work(tx: Transaction) -> list[Claim]:
            return claims.claim_revisions(
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

    async def adopt(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        refuse_twice(revisions)
        return await self._database.write(
            corpus_id,
            lambda tx: enqueue_claimed(tx, corpus_id, revisions, worker, job_id=job_id, lease_seconds=lease_seconds),
        )

    async def renew(self, held: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._of_claims(held, lambda tx, some: claims.renew(tx, some, lease_seconds))

    async def advance(self, held: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(tx: Transaction, some: Sequence[Claim]) -> list[Claim]:
            right = claims.valid_claims(tx, some)
            move(tx, [revision_uid(claim) for claim in some if claim.token in right], state)
            return [claim for claim in some if claim.token not in right]

        return await self._of_claims(held, work)

    async def release(self, held: Sequence[Claim]) -> None:
        await self._of_claims(held, claims.release)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            if claims.valid_claims(tx, some):
                claims.fail(tx, [revision_uid(claim)], reason)

        await self._of_claims([claim], work)

    async def expire(self, *, except_worker: str | None = None) -> int:
        expired = 0
        for corpus_id in await self._database.read(lambda tx: claims.corpora_with_leases(tx, except_worker)):
            try:
                expired += await self._database.write(
                    corpus_id, lambda tx: claims.expire_leases(tx, tx.corpus["id"], except_worker)
                )
            except NotFound:
                continue  # forgotten meanwhile, with its revisions
        return expired

    async def pause(self, held: Sequence[Claim], reason: str) -> None:
        await self._of_claims(held, lambda tx, some: claims.pause(tx, some, reason))

    async def stage(self, staged: Sequence[Staged], spent: Sequence[Spent] = ()) -> list[Claim]:
        jobs = {one.job_id for one in spent}
        corpora = await self._database.read(lambda tx: claims.corpora_of_jobs(tx, jobs)) if jobs else {}
        lost: list[Claim] = []
        for corpus_id in sorted({*corpora.values(), *(one.claim.corpus_id for one in staged)}):
            made = [one for one in staged if one.claim.corpus_id == corpus_id]
            cost = [one for one in spent if corpora.get(one.job_id) == corpus_id]
            try:
                lost += await self._database.write(corpus_id, partial(_stage, staged=made, spent=cost))
            except NotFound:
                await self._database.write_unlocked(partial(claims.spend, spent=cost))
                lost += {one.claim.token: one.claim for one in made}.values()
        return lost

    async def staged(self, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
        return await self._database.read(lambda tx: extractions.staged(tx, corpus_id, keys))

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        if len({one.claim.corpus_id for one in commits}) != 1:
            raise InvalidInput("a commit takes revisions of one corpus, and at least one")
        return await commit(self._database, commits, synonyms, Bounds(rows=self._slice_rows, grace=grace), seen)

    async def unsettled(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda tx: synonym_rows.pending_synonyms(tx, corpus_id))

    async def settle(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(
            corpus_id, lambda tx: synonym_rows.link_synonyms(tx, corpus_id, entity_ids, synonyms)
        )

    async def bury(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(
            tombstone.corpus_id, lambda tx: tombstones.insert_tombstone(tx, tombstone, documents, grace)
        )

    async def tombstones(self, corpus_id: str) -> list[Tombstone]:
        await delete_abandoned_leftovers(self._database, corpus_id, Bounds(rows=self._slice_rows, grace=0.0))
        return await self._database.read(lambda tx: tombstones.due_tombstones(tx, corpus_id))

    async def unnamed(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda tx: tombstones.select_orphans(tx, tombstone))

    async def clear(self, swept: Sequence[Tombstone]) -> None:
        for corpus_id in sorted({one.corpus_id for one in swept}):
            some = [one for one in swept if one.corpus_id == corpus_id]
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(tombstones.delete_tombstones, tombstones=some))

    async def lapsed(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: mending.lapsed(tx, corpus_id))

    async def unmentioned(self, corpus_id: str, *, remove: bool = False) -> int:
        if remove:
            return await self._database.write(corpus_id, lambda tx: mending.drop_unmentioned(tx, corpus_id))
        return len(await self._database.read(lambda tx: mending.unmentioned(tx, corpus_id)))

    async def dropped(self) -> list[str]:
        rows = await self._database.read(lambda tx: tx.rows(statements("work")["dropped"]))
        return [row["id"] for row in rows]

    async def forget(self, corpus_id: str) -> None:
        await forget(self._database, corpus_id)

    async def trim(self) -> None:
        outdated, jobs = await self._database.read(
            lambda tx: (change_log.corpora_with_expired_changes(tx), abandoned_jobs(tx))
        )
        for corpus_id in outdated:
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(change_log.delete_expired_changes, corpus_id=corpus_id))
        for job_id in jobs:
            await self._database.write_unlocked(partial(_close, job_id=job_id))
        await trails.delete_expired_trails(self._database)

    async def _of_claims(self, held: Sequence[Claim], work: _OfClaims) -> list[Claim]:
        """What `work` answers to the claims of each corpus; those of a corpus that is gone are lost."""
        answers: list[Claim] = []
        for corpus_id in sorted({claim.corpus_id for claim in held}):
            some = [claim for claim in held if claim.corpus_id == corpus_id]
            try:
                answers += await self._database.write(corpus_id, _applied(work, some))
            except NotFound:
                answers += some
        return answers


def _applied(work: _OfClaims, claims: Sequence[Claim]) -> Callable[[Transaction], Sequence[Claim]]:
    return lambda tx: work(tx, claims) or ()


def _stage(tx: Transaction, staged: Sequence[Staged], spent: Sequence[Spent]) -> list[Claim]:
    claims.spend(tx, spent)
    return extractions.stage(tx, staged)


def _close(tx: Transaction, job_id: str) -> None:
    lock_job(tx, job_id)
    close_job(tx, job_id)

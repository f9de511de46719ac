"""Claims in Neo4j: how a worker gets the right to write a revision, renews it, and loses it when its lease expires.

First come the functions of a transaction that has locked the corpus; only `corpora_with_work`, `_claimable_corpora`,
`corpora_with_leases` and `_corpora_of_jobs` read without a lock. Then come the port of claims, and the port of staging:
extractions that are stored before the revision of a claim is committed. The record is the queue; the broker only
notifies.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.documents import OnConflict, RevisionState
from core.errors import NotFound
from core.graph import Extraction
from core.ports.record import EVERY_REVISION, Claim, ClaimFilter, ClaimProgress, JobUsage, NewRevision, StagedExtraction
from core.record_policy.claims import (
    CLAIMED_ALONE_AFTER,
    LONGEST_LEASE_SECONDS,
    failure_reason,
    fit_batch,
    is_suspect,
    split,
)
from core.record_policy.submissions import STOPPABLE, WORKING, check_distinct_keys
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import claim_from_row, document_uid, revision_uid, uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.record.jobs import touch_job
from stores.neo4j.record.revisions import move, requeue_deletions
from stores.neo4j.record.submissions import live_corpus, submit
from stores.record_rows import dump_extraction, load_extraction

Token = tuple[str, str, int, int]

_ANY_SIZE = 2**63 - 1


def corpora_with_work(tx: Transaction) -> list[str]:
    """Returns the ids of the corpora that a worker has something to do for."""
    rows = tx.rows(
        statements("claims")["corpora_with_work"], working=WORKING, now=tx.now, longest=LONGEST_LEASE_SECONDS
    )
    return sorted(row["id"] for row in rows)


def _claimable_corpora(tx: Transaction, only: ClaimFilter) -> list[str]:
    """Returns the ids of the corpora that have claimable revisions of this kind."""
    rows = tx.rows(
        statements("claims")["claimable_corpora"],
        working=WORKING,
        now=tx.now,
        longest=LONGEST_LEASE_SECONDS,
        **_bounds(only),
    )
    return sorted(row["id"] for row in rows)


def _claim_revisions(
    tx: Transaction,
    corpus_id: str,
    worker: str,
    *,
    lease_seconds: float,
    max_bytes: int,
    max_documents: int,
    only: ClaimFilter,
) -> list[Claim]:
    """Claims the oldest claimable revisions of this kind, up to `max_bytes`, at least one if there is one.

    Revisions whose workers died are claimed alone or fail, by the rules of `core.record_policy.claims`.
    """
    rows = tx.rows(
        statements("claims")["claimable"],
        corpus_id=corpus_id,
        working=WORKING,
        now=tx.now,
        longest=LONGEST_LEASE_SECONDS,
        alone=CLAIMED_ALONE_AFTER,
        limit=max_documents,
        **_bounds(only),
    )
    rows.sort(key=lambda row: (is_suspect(row), row["seq"]))
    claimable, hopeless = split(rows[:max_documents])
    _fail_all(tx, hopeless)
    return _lease(tx, fit_batch(claimable, max_bytes), worker, lease_seconds)


def _claim_documents(
    tx: Transaction, corpus_id: str, document_ids: Collection[str], worker: str, lease_seconds: float
) -> list[Claim]:
    """Claims the newest revisions of these documents that are not final, even if another worker has a claim on them."""
    uids = sorted(uid_of(corpus_id, id) for id in document_ids)
    rows = tx.rows_in_batches(statements("claims")["newest_of_documents"], uids, states=STOPPABLE)
    return _lease(tx, sorted(rows, key=lambda row: int(row["seq"])), worker, lease_seconds)


def _enqueue_claimed(
    tx: Transaction,
    corpus_id: str,
    revisions: Sequence[NewRevision],
    worker: str,
    *,
    job_id: str,
    lease_seconds: float,
) -> list[Claim]:
    """Queues submissions and claims them in the same transaction, so that no other worker claims them.

    The keys are distinct. Unchanged submissions give no claim.
    """
    live_corpus(tx)
    documents = submit(tx, corpus_id, revisions, OnConflict.REPLACE, job_id)
    touch_job(tx, job_id)
    changed = [document.id for document in documents if not document.unchanged]
    return _claim_documents(tx, corpus_id, changed, worker, lease_seconds)


def _lease(tx: Transaction, chosen: Sequence[Row], worker: str, lease_seconds: float) -> list[Claim]:
    for deletion, state in ((False, RevisionState.LOADING), (True, RevisionState.DELETING)):
        move(tx, [row["uid"] for row in chosen if row["deletion"] is deletion], state)
    uids = [row["uid"] for row in chosen]
    until = tx.now + lease_seconds
    rows = tx.rows_in_batches(statements("claims")["lease"], sorted(uids), worker=worker, until=until)
    expired = {row["uid"] for row in chosen if row["state"] in WORKING}
    suspects = {row["uid"] for row in chosen if is_suspect(row)}
    claims = {
        uid: replace(claim_from_row(row["claim"]), taken_over=uid in expired, suspect=uid in suspects)
        for row in rows
        for uid in [row["claim"]["uid"]]
    }
    return [claims[uid] for uid in uids]


def _bounds(only: ClaimFilter) -> dict[str, Any]:
    most = _ANY_SIZE if only.max_size is None else only.max_size
    return {"least": only.min_size, "most": most, "attempts": _ANY_SIZE if only.suspects else CLAIMED_ALONE_AFTER}


def _fail_all(tx: Transaction, hopeless: Sequence[Row]) -> None:
    for attempts in sorted({row["attempts"] for row in hopeless}):
        _fail(tx, [row["uid"] for row in hopeless if row["attempts"] == attempts], failure_reason(attempts))


def valid_claims(tx: Transaction, claims: Sequence[Claim]) -> dict[Token, str]:
    """Returns the tokens of the claims that are not fenced, each with the id of the job that it is for now."""
    tokens = {(revision_uid(claim), claim.epoch): claim.token for claim in claims}
    keys = [{"uid": uid, "epoch": epoch} for uid, epoch in sorted(tokens)]
    rows = tx.rows_in_batches(statements("claims")["valid"], keys, working=WORKING)
    return {tokens[row["uid"], row["epoch"]]: row["job"] for row in rows}


def _renew(tx: Transaction, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
    """Extends the leases. Returns the fenced claims."""
    valid = valid_claims(tx, claims)
    tx.run_batches(statements("claims")["renew"], _uids(claims, valid), until=tx.now + lease_seconds)
    return [claim for claim in claims if claim.token not in valid]


def _report(tx: Transaction, progress: Sequence[ClaimProgress]) -> None:
    """Records the progress of the revisions of the claims."""
    valid = valid_claims(tx, [report.claim for report in progress])
    rows = [
        {"uid": revision_uid(report.claim), "passages": report.passages, "done": report.done}
        for report in progress
        if report.claim.token in valid
    ]
    tx.run_batches(statements("claims")["report"], sorted(rows, key=lambda row: str(row["uid"])))


def _release(tx: Transaction, claims: Sequence[Claim]) -> None:
    """Queues the revisions of the claims again."""
    _end_claims(tx, _uids(claims, valid_claims(tx, claims)), RevisionState.QUEUED)


def _pause(tx: Transaction, claims: Sequence[Claim], reason: str) -> None:
    """Pauses the revisions of the claims, and all queued revisions of their jobs.

    A revision that has moved to another job is queued again instead.
    """
    valid = valid_claims(tx, claims)
    paused = {claim.token for claim in claims if valid.get(claim.token) == claim.job_id}
    _end_claims(tx, _uids(claims, valid.keys() - paused), RevisionState.QUEUED)
    jobs = sorted({valid[token] for token in paused})
    queued = tx.rows_in_batches(statements("claims")["queued_of_jobs"], jobs)
    move(tx, [row["uid"] for row in queued], RevisionState.PAUSED, reason=reason)
    _end_claims(tx, _uids(claims, paused), RevisionState.PAUSED, reason)


def _end_claims(tx: Transaction, uids: Sequence[str], state: RevisionState, reason: str | None = None) -> None:
    tx.run_batches(statements("claims")["end"], uids)
    move(tx, uids, state, reason=reason, fence=True)


def _uids(claims: Sequence[Claim], tokens: Collection[Token]) -> list[str]:
    return sorted({revision_uid(claim) for claim in claims if claim.token in tokens})


def _corpora_of_jobs(tx: Transaction, job_ids: Collection[str]) -> dict[str, str]:
    """Returns the ids of the corpora of jobs, by job id."""
    rows = tx.rows_in_batches(statements("jobs")["corpora"], sorted(job_ids))
    return {row["id"]: row["corpus"] for row in rows}


def _spend(tx: Transaction, spent: Sequence[JobUsage]) -> None:
    """Adds calls and tokens of models to the usage of jobs."""
    rows = [
        {
            "job_id": usage.job_id,
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        }
        for usage in sorted(spent, key=lambda usage: usage.job_id)
    ]
    tx.run_batches(statements("claims")["spend"], rows)


def _fail(tx: Transaction, uids: Collection[str], reason: str) -> None:
    """Moves revisions to the state failed, and keeps the reason with their jobs.

    Deletions that the revisions superseded are queued again.
    """
    move(tx, uids, RevisionState.FAILED, reason=reason, fence=True)
    tx.run_batches(statements("claims")["insert_failures"], sorted(uids), reason=reason)
    requeue_deletions(tx, uids)


def corpora_with_leases(tx: Transaction) -> list[str]:
    """Returns the ids of the corpora in which a worker has a claim."""
    rows = tx.rows(statements("claims")["corpora_with_leases"], working=WORKING)
    return [row["id"] for row in rows]


def expire_leases(tx: Transaction, corpus_id: str) -> int:
    """Ends the leases of a corpus and returns how many there were. Their claims are fenced at once."""
    rows = tx.rows(statements("claims")["leased"], corpus_id=corpus_id, working=WORKING)
    uids = sorted(row["uid"] for row in rows)
    tx.run_batches(statements("claims")["expire"], uids)
    move(tx, uids, RevisionState.QUEUED, fence=True)
    return len(uids)


_ClaimsWork = Callable[[Transaction, Sequence[Claim]], Sequence[Claim] | None]


class Neo4jClaims(Neo4jPort):
    """Implements `core.ports.record.Claims`. The claims of a corpus that is deleted are fenced."""

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        return await self._database.read(lambda tx: _claimable_corpora(tx, only))

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
            return _claim_revisions(
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
            lambda tx: _enqueue_claimed(tx, corpus_id, revisions, worker, job_id=job_id, lease_seconds=lease_seconds),
        )

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._for_each_corpus(claims, lambda tx, some: _renew(tx, some, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(tx: Transaction, some: Sequence[Claim]) -> list[Claim]:
            valid = valid_claims(tx, some)
            move(tx, [revision_uid(claim) for claim in some if claim.token in valid], state)
            return [claim for claim in some if claim.token not in valid]

        return await self._for_each_corpus(claims, work)

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        by_token = {report.claim.token: report for report in progress}

        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            _report(tx, [by_token[claim.token] for claim in some])

        await self._for_each_corpus([report.claim for report in progress], work)

    async def release(self, claims: Sequence[Claim]) -> None:
        await self._for_each_corpus(claims, _release)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(tx: Transaction, some: Sequence[Claim]) -> None:
            if valid_claims(tx, some):
                _fail(tx, [revision_uid(claim)], reason)

        await self._for_each_corpus([claim], work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        await self._for_each_corpus(claims, lambda tx, some: _pause(tx, some, reason))

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


class Neo4jStaging(Neo4jPort):
    """Implements `core.ports.record.Staging`."""

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        jobs = {usage.job_id for usage in spent}
        corpora = await self._database.read(lambda tx: _corpora_of_jobs(tx, jobs)) if jobs else {}
        fenced: list[Claim] = []
        for corpus_id in sorted({*corpora.values(), *(extraction.claim.corpus_id for extraction in extractions)}):
            staged = [extraction for extraction in extractions if extraction.claim.corpus_id == corpus_id]
            usage = [usage for usage in spent if corpora.get(usage.job_id) == corpus_id]
            try:
                fenced += await self._database.write(corpus_id, partial(_stage, extractions=staged, spent=usage))
            except NotFound:
                await self._database.write_unlocked(partial(_spend, spent=usage))
                fenced += {extraction.claim.token: extraction.claim for extraction in staged}.values()
        return fenced

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        return await self._database.read(lambda tx: _staged(tx, corpus_id, keys))


def _stage(tx: Transaction, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage]) -> list[Claim]:
    """Returns the fenced claims, of which nothing is stored."""
    _spend(tx, spent)
    by_token = {extraction.claim.token: extraction.claim for extraction in extractions}
    valid = valid_claims(tx, list(by_token.values()))
    rows = {
        f"{document_uid(extraction.claim)}:{extraction.extract_hash}": {
            "document_uid": document_uid(extraction.claim),
            "corpus_id": extraction.claim.corpus_id,
            "document_id": extraction.claim.document_id,
            "extract_hash": extraction.extract_hash,
            "payload": dump_extraction(extraction.extraction),
        }
        for extraction in extractions
        if extraction.claim.token in valid
    }
    tx.run_batches(statements("staging")["stage"], [{"uid": uid, **row} for uid, row in sorted(rows.items())])
    return [claim for token, claim in by_token.items() if token not in valid]


def _staged(tx: Transaction, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
    uids = sorted(f"{uid_of(corpus_id, document)}:{hash}" for document, hash in keys)
    rows = tx.rows_in_batches(statements("staging")["staged"], uids)
    return {(row["document"], row["hash"]): load_extraction(row["payload"]) for row in rows}

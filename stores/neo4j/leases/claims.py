"""Claims: giving workers exclusive, leased rights to revisions, checking and ending them.

These are functions of a transaction that has locked the corpus; only `corpora_with_work`, `claimable_corpora`,
`corpora_with_leases` and `corpora_of_jobs` read without a lock.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from core.documents import RevisionState
from core.ports.record import Claim, ClaimFilter, ClaimProgress, JobUsage
from core.record_policy.claims import (
    CLAIMED_ALONE_AFTER,
    LONGEST_LEASE_SECONDS,
    failure_reason,
    fit_batch,
    is_suspect,
    split,
)
from core.record_policy.states import STOPPABLE, WORKING
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.node_uids import revision_uid, uid_of
from stores.neo4j.driver.rows import claim_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.revisions import requeue_deletions
from stores.neo4j.leases.states import move

__all__ = [
    "Token",
    "claim_documents",
    "claim_revisions",
    "claimable_corpora",
    "corpora_of_jobs",
    "corpora_with_leases",
    "corpora_with_work",
    "expire_leases",
    "fail",
    "pause",
    "release",
    "renew",
    "report",
    "spend",
    "valid_claims",
]

Token = tuple[str, str, int, int]

_ANY_SIZE = 2**63 - 1


def corpora_with_work(tx: Transaction) -> list[str]:
    """Returns the ids of the corpora that a worker has something to do for."""
    rows = tx.rows(
        statements("claims")["corpora_with_work"], working=WORKING, now=tx.now, longest=LONGEST_LEASE_SECONDS
    )
    return sorted(row["id"] for row in rows)


def claimable_corpora(tx: Transaction, only: ClaimFilter) -> list[str]:
    """Returns the ids of the corpora that have claimable revisions of this kind."""
    rows = tx.rows(
        statements("claims")["claimable_corpora"],
        working=WORKING,
        now=tx.now,
        longest=LONGEST_LEASE_SECONDS,
        **_bounds(only),
    )
    return sorted(row["id"] for row in rows)


def claim_revisions(
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


def claim_documents(
    tx: Transaction, corpus_id: str, document_ids: Collection[str], worker: str, lease_seconds: float
) -> list[Claim]:
    """Claims the newest revisions of these documents that are not final, even if another worker has a claim on them."""
    uids = sorted(uid_of(corpus_id, id) for id in document_ids)
    rows = tx.rows_in_batches(statements("claims")["newest_of_documents"], uids, states=STOPPABLE)
    return _lease(tx, sorted(rows, key=lambda row: int(row["seq"])), worker, lease_seconds)


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
        fail(tx, [row["uid"] for row in hopeless if row["attempts"] == attempts], failure_reason(attempts))


def valid_claims(tx: Transaction, claims: Sequence[Claim]) -> dict[Token, str]:
    """Returns the tokens of the claims that are not fenced, each with the id of the job that it is for now."""
    tokens = {(revision_uid(claim), claim.epoch): claim.token for claim in claims}
    keys = [{"uid": uid, "epoch": epoch} for uid, epoch in sorted(tokens)]
    rows = tx.rows_in_batches(statements("claims")["valid"], keys, working=WORKING)
    return {tokens[row["uid"], row["epoch"]]: row["job"] for row in rows}


def renew(tx: Transaction, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
    """Extends the leases. Returns the fenced claims."""
    valid = valid_claims(tx, claims)
    tx.run_batches(statements("claims")["renew"], _uids(claims, valid), until=tx.now + lease_seconds)
    return [claim for claim in claims if claim.token not in valid]


def report(tx: Transaction, progress: Sequence[ClaimProgress]) -> None:
    """Records the progress of the revisions of the claims."""
    valid = valid_claims(tx, [one.claim for one in progress])
    rows = [
        {"uid": revision_uid(one.claim), "passages": one.passages, "done": one.done}
        for one in progress
        if one.claim.token in valid
    ]
    tx.run_batches(statements("claims")["report"], sorted(rows, key=lambda row: str(row["uid"])))


def release(tx: Transaction, claims: Sequence[Claim]) -> None:
    """Queues the revisions of the claims again."""
    _end_claims(tx, _uids(claims, valid_claims(tx, claims)), RevisionState.QUEUED)


def pause(tx: Transaction, claims: Sequence[Claim], reason: str) -> None:
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


def corpora_of_jobs(tx: Transaction, job_ids: Collection[str]) -> dict[str, str]:
    """Returns the ids of the corpora of jobs, by job id."""
    rows = tx.rows_in_batches(statements("jobs")["corpora"], sorted(job_ids))
    return {row["id"]: row["corpus"] for row in rows}


def spend(tx: Transaction, spent: Sequence[JobUsage]) -> None:
    """Adds calls and tokens of models to the usage of jobs."""
    rows = [
        {
            "job_id": one.job_id,
            "calls": one.calls,
            "prompt_tokens": one.prompt_tokens,
            "completion_tokens": one.completion_tokens,
        }
        for one in sorted(spent, key=lambda one: one.job_id)
    ]
    tx.run_batches(statements("claims")["spend"], rows)


def fail(tx: Transaction, uids: Collection[str], reason: str) -> None:
    """Moves revisions to the state failed, and keeps the reason with their jobs.

    Deletions that the revisions superseded are queued again.
    """
    move(tx, uids, RevisionState.FAILED, reason=reason, fence=True)
    tx.run_batches(statements("claims")["insert_failures"], sorted(uids), reason=reason)
    requeue_deletions(tx, uids)


def corpora_with_leases(tx: Transaction, except_worker: str | None) -> list[str]:
    """Returns the ids of the corpora in which a worker other than `except_worker` has a claim."""
    rows = tx.rows(statements("claims")["corpora_with_leases"], working=WORKING, except_worker=except_worker)
    return [row["id"] for row in rows]


def expire_leases(tx: Transaction, corpus_id: str, except_worker: str | None) -> int:
    """Ends the leases of a corpus and returns how many there were. Their claims are fenced at once."""
    rows = tx.rows(statements("claims")["leased"], corpus_id=corpus_id, working=WORKING, except_worker=except_worker)
    uids = sorted(row["uid"] for row in rows)
    tx.run_batches(statements("claims")["expire"], uids)
    move(tx, uids, RevisionState.QUEUED, fence=True)
    return len(uids)

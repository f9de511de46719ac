"""Claims: which worker may write which revision, and until when."""

from collections.abc import Collection, Sequence

from core.documents import RevisionState
from core.ports.record import Claim, JobUsage
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import revision_uid, uid_of
from stores.neo4j.leases.states import STOPPABLE, WORKING, move
from stores.neo4j.rows import claim_from_row

__all__ = [
    "Token",
    "corpora_of",
    "expire",
    "fail",
    "held",
    "leased",
    "pause",
    "release",
    "renew",
    "spend",
    "take",
    "take_of",
    "waiting",
]

_ALONE_AFTER = 4
_FAILED_AFTER = 8

Token = tuple[str, str, int, int]


def waiting(tx: Transaction) -> list[str]:
    """Corpora with something to do; see `core.ports.record.Maintenance.list_corpora_with_work`."""
    return sorted(row["id"] for row in tx.rows(statements("claims")["waiting"], working=WORKING, now=tx.now))


def take(
    tx: Transaction, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int
) -> list[Claim]:
    rows = tx.rows(
        statements("claims")["claimable"],
        corpus_id=corpus_id,
        working=WORKING,
        now=tx.now,
        alone=_ALONE_AFTER,
        limit=max_documents,
    )
    rows.sort(key=lambda row: (_suspect(row), row["seq"]))
    rows = _without_hopeless(tx, rows[:max_documents])
    return _lease(tx, _fitting(rows, max_bytes), worker, lease_seconds)


def take_of(
    tx: Transaction, corpus_id: str, documents: Collection[str], worker: str, lease_seconds: float
) -> list[Claim]:
    """Claim the newest revisions of these documents that are not over, whoever holds them now."""
    uids = sorted(uid_of(corpus_id, id) for id in documents)
    rows = rows_of(tx, statements("claims")["of_documents"], uids, states=STOPPABLE)
    return _lease(tx, sorted(rows, key=lambda row: int(row["seq"])), worker, lease_seconds)


def _lease(tx: Transaction, chosen: Sequence[Row], worker: str, lease_seconds: float) -> list[Claim]:
    for deletion, state in ((False, RevisionState.LOADING), (True, RevisionState.DELETING)):
        move(tx, [row["uid"] for row in chosen if row["deletion"] is deletion], state)
    uids = [row["uid"] for row in chosen]
    until = tx.now + lease_seconds
    rows = rows_of(tx, statements("claims")["lease"], sorted(uids), worker=worker, until=until)
    claims = {row["claim"]["uid"]: claim_from_row(row["claim"]) for row in rows}
    return [claims[uid] for uid in uids]


def _suspect(row: Row) -> bool:
    return int(row["attempts"]) >= _ALONE_AFTER


def _without_hopeless(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """End revisions whose workers died again and again: most likely they are what kills them."""
    hopeless = [row for row in rows if row["attempts"] >= _FAILED_AFTER]
    for times in sorted({row["attempts"] for row in hopeless}):
        uids = [row["uid"] for row in hopeless if row["attempts"] == times]
        fail(tx, uids, f"the worker died or lost its lease {times} times on this document")
    return [row for row in rows if row["attempts"] < _FAILED_AFTER]


def _fitting(rows: Sequence[Row], max_bytes: int) -> list[Row]:
    """The first rows up to `max_bytes`, at least one; a suspect row comes alone, after all others."""
    chosen: list[Row] = []
    total = 0
    for row in rows:
        suspect = _suspect(row)
        if chosen and (suspect or total + row["size"] > max_bytes):
            break
        chosen.append(row)
        total += row["size"]
        if suspect:
            break
    return chosen


def held(tx: Transaction, claims: Sequence[Claim]) -> dict[Token, str]:
    """By token, those claims that are still right, with the jobs that they are for now."""
    asked = {(revision_uid(claim), claim.epoch): claim.token for claim in claims}
    rows = [{"uid": uid, "epoch": epoch} for uid, epoch in sorted(asked)]
    found = rows_of(tx, statements("claims")["held"], rows, working=WORKING)
    return {asked[row["uid"], row["epoch"]]: row["job"] for row in found}


def renew(tx: Transaction, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
    right = held(tx, claims)
    tx.run_batches(statements("claims")["renew"], _uids(claims, right), until=tx.now + lease_seconds)
    return [claim for claim in claims if claim.token not in right]


def release(tx: Transaction, claims: Sequence[Claim]) -> None:
    _hand_back(tx, _uids(claims, held(tx, claims)), RevisionState.QUEUED)


def pause(tx: Transaction, claims: Sequence[Claim], reason: str) -> None:
    right = held(tx, claims)
    stopped = {claim.token for claim in claims if right.get(claim.token) == claim.job_id}
    _hand_back(tx, _uids(claims, right.keys() - stopped), RevisionState.QUEUED)
    jobs = sorted({right[token] for token in stopped})
    queued = rows_of(tx, statements("claims")["queued_of"], jobs)
    move(tx, [row["uid"] for row in queued], RevisionState.PAUSED, reason=reason)
    _hand_back(tx, _uids(claims, stopped), RevisionState.PAUSED, reason)


def _hand_back(tx: Transaction, uids: Sequence[str], state: RevisionState, reason: str | None = None) -> None:
    tx.run_batches(statements("claims")["hand_back"], uids)
    move(tx, uids, state, reason=reason, fence=True)


def _uids(claims: Sequence[Claim], tokens: Collection[Token]) -> list[str]:
    return sorted({revision_uid(claim) for claim in claims if claim.token in tokens})


def corpora_of(tx: Transaction, jobs: Collection[str]) -> dict[str, str]:
    """The corpora that jobs are for, by the jobs' ids."""
    return {row["id"]: row["corpus"] for row in rows_of(tx, statements("work")["jobs"], sorted(jobs))}


def spend(tx: Transaction, spent: Sequence[JobUsage]) -> None:
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
    move(tx, uids, RevisionState.FAILED, reason=reason, fence=True)
    tx.run_batches(statements("claims")["failure"], sorted(uids), reason=reason)


def leased(tx: Transaction, except_worker: str | None) -> list[str]:
    """The corpora in which somebody holds a claim."""
    rows = tx.rows(statements("claims")["leased"], working=WORKING, spared=except_worker)
    return [row["id"] for row in rows]


def expire(tx: Transaction, corpus_id: str, except_worker: str | None) -> int:
    """End all leases of a corpus at once; its workers are fenced even before somebody claims again."""
    rows = tx.rows(statements("claims")["leased_in"], corpus_id=corpus_id, working=WORKING, spared=except_worker)
    uids = sorted(row["uid"] for row in rows)
    tx.run_batches(statements("claims")["end_leases"], uids)
    move(tx, uids, RevisionState.QUEUED, fence=True)
    return len(uids)

"""Claims: which worker may write which revision, and until when."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from core.documents import RevisionState
from core.ports.record import Claim, JobUsage
from stores.sqlite.database import Connection, now
from stores.sqlite.leases.states import WORKING, move
from stores.sqlite.rows import claim_from_row, id_list

__all__ = ["adopt", "expire", "fail", "held", "lapsed", "pause", "release", "renew", "spend", "take", "waiting"]

_ALONE_AFTER = 4
_FAILED_AFTER = 8

_WORKING_MARKS = ", ".join("?" * len(WORKING))
_CLAIMABLE = f"(r.state = 'queued' OR (r.state IN ({_WORKING_MARKS}) AND r.lease_until < ?))"
_UNFINISHED = "r.state IN ('queued', 'loading', 'extracting', 'writing', 'deleting')"  # as the partial index has it
_CLAIMED = """
    r.*, d.key, j.token_budget, coalesce(j.prompt_tokens + j.completion_tokens, 0) AS tokens_spent
    FROM revisions r JOIN documents d ON d.corpus_id = r.corpus_id AND d.id = r.document_id
    LEFT JOIN jobs j ON j.id = r.job_id
"""


def waiting(cx: Connection) -> list[str]:
    """Corpora with something to do; see `core.ports.record.Maintenance.list_corpora_with_work`."""
    at = now()
    rows = cx.execute(
        f"""
        SELECT DISTINCT r.corpus_id AS id FROM revisions r WHERE {_UNFINISHED} AND {_CLAIMABLE}
        UNION SELECT id FROM corpora WHERE name IS NULL  -- dropped, or built beside another
        UNION SELECT corpus_id FROM tombstones WHERE due_at <= ?
        UNION SELECT corpus_id FROM unsettled WHERE due_at <= ?
        """,
        (*WORKING, at, at, at),
    )
    return sorted(row["id"] for row in rows)


def take(
    cx: Connection, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int
) -> list[Claim]:
    at = now()
    rows = cx.execute(
        f"""
        SELECT {_CLAIMED}
        WHERE r.corpus_id = ? AND {_UNFINISHED} AND {_CLAIMABLE} ORDER BY r.attempts >= {_ALONE_AFTER}, r.seq LIMIT ?
        """,
        (corpus_id, *WORKING, at, max_documents),
    ).fetchall()
    rows = _without_hopeless(cx, rows)
    chosen = _fitting(rows, max_bytes)
    for deletion, state in ((0, RevisionState.LOADING), (1, RevisionState.DELETING)):
        move(cx, [row["seq"] for row in chosen if row["deletion"] == deletion], state)
    return _give(cx, chosen, worker, at + lease_seconds)


def adopt(
    cx: Connection, corpus_id: str, document_ids: Sequence[str], worker: str, *, lease_seconds: float
) -> list[Claim]:
    """Claim the newest revisions of these documents, from whoever has them: he is fenced."""
    until = now() + lease_seconds
    rows = cx.execute(
        f"""
        SELECT {_CLAIMED} WHERE r.corpus_id = ? AND r.number = d.newest AND d.id IN (SELECT value FROM json_each(?))
        ORDER BY r.seq
        """,
        (corpus_id, id_list(document_ids)),
    ).fetchall()
    move(cx, [row["seq"] for row in rows], RevisionState.WRITING)
    return _give(cx, rows, worker, until)


def _give(cx: Connection, rows: Sequence[sqlite3.Row], worker: str, until: float) -> list[Claim]:
    cx.executemany(
        "UPDATE revisions SET owner = ?, lease_until = ?, epoch = epoch + 1, attempts = attempts + 1 WHERE seq = ?",
        [(worker, until, row["seq"]) for row in rows],
    )
    return [replace(claim_from_row(row), epoch=row["epoch"] + 1) for row in rows]


def lapsed(cx: Connection, corpus_id: str) -> int:
    """How many are in work under a lease that has run out."""
    row = cx.execute(
        f"""
        SELECT count(*) AS n FROM revisions r
        WHERE r.corpus_id = ? AND {_UNFINISHED} AND r.state IN ({_WORKING_MARKS}) AND r.lease_until < ?
        """,
        (corpus_id, *WORKING, now()),
    ).fetchone()
    return int(row["n"])


def _without_hopeless(cx: Connection, rows: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    """End revisions whose workers died again and again: most likely they are what kills them."""
    hopeless = [row for row in rows if row["attempts"] >= _FAILED_AFTER]
    for row in hopeless:
        reason = f"the worker died or lost its lease {row['attempts']} times on this document"
        fail(cx, row["seq"], row["key"], reason)
    return [row for row in rows if row["attempts"] < _FAILED_AFTER]


def _fitting(rows: Sequence[sqlite3.Row], max_bytes: int) -> list[sqlite3.Row]:
    """The first rows up to `max_bytes`, at least one; a suspect row comes alone, after all others."""
    chosen: list[sqlite3.Row] = []
    total = 0
    for row in rows:
        suspect = row["attempts"] >= _ALONE_AFTER
        if chosen and (suspect or total + row["size"] > max_bytes):
            break
        chosen.append(row)
        total += row["size"]
        if suspect:
            break
    return chosen


def held(cx: Connection, claims: Sequence[Claim]) -> dict[tuple[str, str, int, int], int]:
    """The `seq` of the revisions of those claims that are still right, by the claims' tokens."""
    right: dict[tuple[str, str, int, int], int] = {}
    for claim in claims:
        row = cx.execute(
            f"""
            SELECT seq FROM revisions WHERE corpus_id = ? AND document_id = ? AND number = ? AND epoch = ?
            AND state IN ({_WORKING_MARKS})
            """,
            (claim.corpus_id, claim.document_id, claim.revision, claim.epoch, *WORKING),
        ).fetchone()
        if row is not None:
            right[claim.token] = row["seq"]
    return right


def renew(cx: Connection, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
    right = held(cx, claims)
    until = now() + lease_seconds
    cx.executemany("UPDATE revisions SET lease_until = ? WHERE seq = ?", [(until, seq) for seq in right.values()])
    return [claim for claim in claims if claim.token not in right]


def release(cx: Connection, claims: Sequence[Claim]) -> None:
    seqs = list(held(cx, claims).values())
    move(cx, seqs, RevisionState.QUEUED)
    cx.executemany(
        "UPDATE revisions SET owner = NULL, lease_until = 0, epoch = epoch + 1, attempts = attempts - 1 WHERE seq = ?",
        [(seq,) for seq in seqs],
    )


def pause(cx: Connection, claims: Sequence[Claim], reason: str) -> None:
    right = held(cx, claims)
    moved = [claim for claim in claims if claim.token in right and _job_of(cx, right[claim.token]) != claim.job_id]
    release(cx, moved)
    seqs = [right[claim.token] for claim in claims if claim.token in right and claim not in moved]
    jobs = {_job_of(cx, seq) for seq in seqs}
    for job_id in jobs:
        rows = cx.execute("SELECT seq FROM revisions WHERE job_id = ? AND state = 'queued'", (job_id,))
        move(cx, [row["seq"] for row in rows], RevisionState.PAUSED, reason=reason)
    cx.executemany(
        "UPDATE revisions SET owner = NULL, lease_until = 0, epoch = epoch + 1, attempts = attempts - 1 WHERE seq = ?",
        [(seq,) for seq in seqs],
    )
    move(cx, seqs, RevisionState.PAUSED, reason=reason)


def _job_of(cx: Connection, seq: int) -> str:
    return str(cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"])


def spend(cx: Connection, spent: Sequence[JobUsage]) -> None:
    cx.executemany(
        """
        UPDATE jobs SET calls = calls + ?, prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?
        WHERE id = ?
        """,
        [(one.calls, one.prompt_tokens, one.completion_tokens, one.job_id) for one in spent],
    )


def fail(cx: Connection, seq: int, key: str, reason: str) -> None:
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    cx.execute("UPDATE revisions SET epoch = epoch + 1, owner = NULL WHERE seq = ?", (seq,))
    move(cx, [seq], RevisionState.FAILED, reason=reason)
    cx.execute("INSERT OR REPLACE INTO job_failures VALUES (?, ?, ?)", (job_id, key, reason))


def expire(cx: Connection, except_worker: str | None) -> int:
    """End all leases at once; the epoch rises, so that their workers are fenced even before somebody claims again."""
    seqs = [
        row["seq"]
        for row in cx.execute(
            f"SELECT seq FROM revisions r WHERE {_UNFINISHED} AND r.state IN ({_WORKING_MARKS}) AND owner IS NOT ?",
            (*WORKING, except_worker),
        )
    ]
    move(cx, seqs, RevisionState.QUEUED)
    cx.executemany(
        "UPDATE revisions SET owner = NULL, lease_until = 0, epoch = epoch + 1 WHERE seq = ?", [(s,) for s in seqs]
    )
    return len(seqs)

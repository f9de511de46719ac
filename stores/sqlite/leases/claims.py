"""Claims: how a worker gets the right to write a revision, renews it, and loses it when its lease expires."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from core.documents import RevisionState
from core.ports.record import Claim, ClaimFilter
from core.record_policy.claims import (
    CLAIMED_ALONE_AFTER,
    LONGEST_LEASE_SECONDS,
    failure_reason,
    fit_batch,
    is_suspect,
    split,
)
from core.record_policy.states import UNFINISHED, WORKING
from stores.sqlite.database import Connection, now
from stores.sqlite.leases.endings import fail
from stores.sqlite.leases.states import set_state
from stores.sqlite.numbers import OF_CORPUS, OF_DOCUMENT
from stores.sqlite.rows import claim_from_row, id_list, marks

__all__ = [
    "claim_batch",
    "claim_documents",
    "count_expired",
    "list_corpora",
    "list_corpora_with_work",
    "renew",
    "select_valid",
]

_Token = tuple[str, str, int, int]

_WORKING = f"r.state IN ({marks(WORKING)})"
_EXPIRED = f"r.lease_until - ? NOT BETWEEN 0 AND {LONGEST_LEASE_SECONDS}"
_CLAIMABLE = f"(r.state = 'queued' OR ({_WORKING} AND {_EXPIRED}))"
_WANTED = f"r.size BETWEEN ? AND coalesce(?, r.size) AND (? OR r.attempts < {CLAIMED_ALONE_AFTER})"
_UNFINISHED = f"r.state IN ({', '.join(map(repr, UNFINISHED))})"  # as in the condition of the partial index
_CLAIMED = """
    r.*, d.key, j.token_budget, coalesce(j.prompt_tokens + j.completion_tokens, 0) AS tokens_spent
    FROM revisions r JOIN document_rows d ON d.number = r.document LEFT JOIN jobs j ON j.seq = r.job
"""


def list_corpora_with_work(cx: Connection) -> list[str]:
    """See `core.ports.record.Maintenance.list_corpora_with_work`."""
    at = now()
    rows = cx.execute(
        f"""
        SELECT DISTINCT r.corpus_id AS id FROM revisions r WHERE {_UNFINISHED} AND {_CLAIMABLE}
        UNION SELECT id FROM corpora WHERE name IS NULL  -- deleted, or a shadow corpus
        UNION SELECT corpus_id FROM tombstones WHERE due_at <= ?
        UNION SELECT corpus_id FROM unsettled WHERE due_at <= ?
        """,
        (*WORKING, at, at, at),
    )
    return sorted(row["id"] for row in rows)


def list_corpora(cx: Connection, only: ClaimFilter) -> list[str]:
    """See `core.ports.record.Claims.list_corpora`."""
    rows = cx.execute(
        f"""
        SELECT id FROM corpus_numbers k WHERE EXISTS (
            SELECT 1 FROM revision_rows r WHERE r.corpus = k.number AND {_UNFINISHED} AND {_CLAIMABLE} AND {_WANTED}
        ) ORDER BY id
        """,
        (*WORKING, now(), *_bounds(only)),
    )
    return [row["id"] for row in rows]


def claim_batch(
    cx: Connection,
    corpus_id: str,
    worker: str,
    *,
    lease_seconds: float,
    max_bytes: int,
    max_documents: int,
    only: ClaimFilter,
) -> list[Claim]:
    """See `core.ports.record.Claims.claim`."""
    at = now()
    rows = cx.execute(
        f"""
        SELECT {_CLAIMED} WHERE r.{OF_CORPUS} AND {_UNFINISHED} AND {_CLAIMABLE} AND {_WANTED}
        ORDER BY r.attempts >= {CLAIMED_ALONE_AFTER}, r.seq LIMIT ?
        """,
        (corpus_id, *WORKING, at, *_bounds(only), max_documents),
    ).fetchall()
    claimable, hopeless = split(rows)
    for row in hopeless:
        fail(cx, row["seq"], row["key"], failure_reason(row["attempts"]))
    batch = fit_batch(claimable, max_bytes)
    for deletion, state in ((0, RevisionState.LOADING), (1, RevisionState.DELETING)):
        set_state(cx, [row["seq"] for row in batch if row["deletion"] == deletion], state)
    return _lease(cx, batch, worker, at + lease_seconds)


def claim_documents(
    cx: Connection, corpus_id: str, document_ids: Sequence[str], worker: str, *, lease_seconds: float
) -> list[Claim]:
    """Claims the newest revisions of documents. Other claims of these revisions are fenced."""
    until = now() + lease_seconds
    rows = cx.execute(
        f"""
        SELECT {_CLAIMED} WHERE d.{OF_CORPUS} AND d.id IN (SELECT from_hex(value) FROM json_each(?))
        AND r.number = d.newest ORDER BY r.seq
        """,
        (corpus_id, id_list(document_ids)),
    ).fetchall()
    set_state(cx, [row["seq"] for row in rows], RevisionState.WRITING)
    return _lease(cx, rows, worker, until)


def _lease(cx: Connection, rows: Sequence[sqlite3.Row], worker: str, until: float) -> list[Claim]:
    cx.executemany(
        "UPDATE revision_rows SET owner = ?, lease_until = ?, epoch = epoch + 1, attempts = attempts + 1 WHERE seq = ?",
        [(worker, until, row["seq"]) for row in rows],
    )
    return [
        replace(
            claim_from_row(row), epoch=row["epoch"] + 1, taken_over=row["state"] in WORKING, suspect=is_suspect(row)
        )
        for row in rows
    ]


def _bounds(only: ClaimFilter) -> tuple[int, int | None, bool]:
    return only.min_size, only.max_size, only.suspects


def select_valid(cx: Connection, claims: Sequence[Claim]) -> dict[_Token, int]:
    """Returns the `seq` of the revision by the token of the claim, of the claims that are not fenced."""
    valid: dict[_Token, int] = {}
    for claim in claims:
        row = cx.execute(
            f"""
            SELECT seq FROM revision_rows r WHERE {OF_DOCUMENT} AND number = ? AND epoch = ? AND {_WORKING}
            """,
            (*claim.token, *WORKING),
        ).fetchone()
        if row is not None:
            valid[claim.token] = row["seq"]
    return valid


def renew(cx: Connection, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
    """Returns the claims that are fenced."""
    valid = select_valid(cx, claims)
    until = now() + lease_seconds
    cx.executemany("UPDATE revision_rows SET lease_until = ? WHERE seq = ?", [(until, seq) for seq in valid.values()])
    return [claim for claim in claims if claim.token not in valid]


def count_expired(cx: Connection, corpus_id: str) -> int:
    """Returns how many revisions are in work under an expired lease."""
    row = cx.execute(
        f"SELECT count(*) AS n FROM revision_rows r WHERE r.{OF_CORPUS} AND {_UNFINISHED} AND {_WORKING} "
        f"AND {_EXPIRED}",
        (corpus_id, *WORKING, now()),
    ).fetchone()
    return int(row["n"])

"""Claims in SQLite: how a worker gets the right to write a revision, renews it, and loses it when its lease expires.

First the functions of one transaction, then the port of claims, then the port of staging: extractions that are stored
before the revision of a claim is committed.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.documents import OnConflict, RevisionState
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
from core.record_policy.submissions import UNFINISHED, WORKING, check_distinct_keys
from stores.record_rows import dump_extraction, load_extraction
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.packing import pack_extraction, pack_hash
from stores.sqlite.record.revisions import fail, finish_if_done, pause, release, set_state
from stores.sqlite.record.submissions import enqueue_into
from stores.sqlite.rows import OF_CORPUS, OF_DOCUMENT, OF_ID, claim_from_row, id_list, marks

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
        UNION SELECT corpus_id FROM removals r WHERE NOT EXISTS (SELECT 1 FROM corpora c WHERE c.id = r.corpus_id)
        """,
        (*WORKING, at, at, at),
    )
    return sorted(row["id"] for row in rows)


def _list_corpora(cx: Connection, only: ClaimFilter) -> list[str]:
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


def _claim_batch(
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


def _claim_documents(
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


def _renew(cx: Connection, claims: Sequence[Claim], lease_seconds: float) -> list[Claim]:
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


class SqliteClaims(SqlitePort):
    """Implements `core.ports.record.Claims`."""

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        return await self._database.read(lambda cx: _list_corpora(cx, only))

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
            lambda cx: _claim_batch(
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
            claims = _claim_documents(cx, corpus_id, new, worker, lease_seconds=lease_seconds)
            finish_if_done(cx, job_id)
            return claims

        return await self._database.write(work)

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._database.write(lambda cx: _renew(cx, claims, lease_seconds))

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            valid = select_valid(cx, claims)
            set_state(cx, list(valid.values()), state)
            return [claim for claim in claims if claim.token not in valid]

        return await self._database.write(work)

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        def work(cx: Connection) -> None:
            valid = select_valid(cx, [one.claim for one in progress])
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
            release(cx, list(select_valid(cx, claims).values()))

        await self._database.write(work)

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(cx: Connection) -> None:
            for seq in select_valid(cx, [claim]).values():
                fail(cx, seq, claim.key, reason)

        await self._database.write(work)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        def work(cx: Connection) -> None:
            valid = select_valid(cx, claims)
            pause(cx, [(valid[one.token], one.job_id) for one in claims if one.token in valid], reason)

        await self._database.write(work)


class SqliteStaging(SqlitePort):
    """Implements `core.ports.record.Staging`."""

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            _add_usage(cx, spent)
            claims = {one.claim.token: one.claim for one in extractions}
            valid = select_valid(cx, list(claims.values()))
            cx.executemany(
                f"INSERT OR REPLACE INTO extraction_rows SELECT number, ?, ? FROM document_rows WHERE {OF_ID}",
                (
                    (
                        pack_hash(one.extract_hash),
                        pack_extraction(dump_extraction(one.extraction)),
                        one.claim.corpus_id,
                        one.claim.document_id,
                    )
                    for one in extractions
                    if one.claim.token in valid
                ),
            )
            return [claim for token, claim in claims.items() if token not in valid]

        return await self._database.write(work)

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        def work(cx: Connection) -> dict[tuple[str, str], Extraction]:
            rows = cx.execute(
                """
                SELECT json_extract(k.value, '$[0]') AS document_id, json_extract(k.value, '$[1]') AS extract_hash,
                    unpack_extraction(x.payload) AS payload
                FROM json_each(?) k
                CROSS JOIN documents d ON d.corpus_id = ? AND d.raw_id = from_hex(json_extract(k.value, '$[0]'))
                CROSS JOIN extraction_rows x
                ON x.document = d.number AND x.extract_hash = pack_hash(json_extract(k.value, '$[1]'))
                """,
                (json.dumps(list(set(keys))), corpus_id),
            )
            return {(row["document_id"], row["extract_hash"]): load_extraction(row["payload"]) for row in rows}

        return await self._database.read(work)


def _add_usage(cx: Connection, spent: Sequence[JobUsage]) -> None:
    cx.executemany(
        """
        UPDATE jobs SET calls = calls + ?, prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?
        WHERE id = ?
        """,
        [(one.calls, one.prompt_tokens, one.completion_tokens, one.job_id) for one in spent],
    )

"""The port of staging in SQLite: extractions that are stored before their revision is committed."""

from collections.abc import Collection, Mapping, Sequence

from core.graph import Extraction
from core.ports.record import Claim, JobUsage, StagedExtraction
from stores.payloads import dump_extraction, load_extraction
from stores.sqlite.database import Connection, SqliteDatabase
from stores.sqlite.leases.claims import select_valid
from stores.sqlite.rows import id_list

__all__ = ["SqliteStaging"]


class SqliteStaging:
    """Implements `core.ports.record.Staging`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            _add_usage(cx, spent)
            claims = {one.claim.token: one.claim for one in extractions}
            valid = select_valid(cx, list(claims.values()))
            cx.executemany(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?)",
                (
                    (one.claim.corpus_id, one.claim.document_id, one.extract_hash, dump_extraction(one.extraction))
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
                SELECT document_id, extract_hash, payload FROM extractions
                WHERE corpus_id = ? AND document_id IN (SELECT value FROM json_each(?))
                """,
                (corpus_id, id_list({document for document, _ in keys})),
            )
            payloads = {(row["document_id"], row["extract_hash"]): row["payload"] for row in rows}
            return {key: load_extraction(payloads[key]) for key in keys if key in payloads}

        return await self._database.read(work)


def _add_usage(cx: Connection, spent: Sequence[JobUsage]) -> None:
    cx.executemany(
        """
        UPDATE jobs SET calls = calls + ?, prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?
        WHERE id = ?
        """,
        [(one.calls, one.prompt_tokens, one.completion_tokens, one.job_id) for one in spent],
    )

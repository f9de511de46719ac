"""The port of staging in SQLite: extractions that are stored before their revision is committed."""

import json
from collections.abc import Collection, Mapping, Sequence

from core.graph import Extraction
from core.ports.record import Claim, JobUsage, StagedExtraction
from stores.payloads import dump_extraction, load_extraction
from stores.sqlite.compression import pack_extraction
from stores.sqlite.database import Connection, SqliteDatabase
from stores.sqlite.leases.claims import select_valid
from stores.sqlite.numbers import OF_ID
from stores.sqlite.short_values import pack_hash

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

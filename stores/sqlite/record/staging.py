"""The port of staging in SQLite: extractions that are stored before their revision is committed."""

from collections.abc import Collection, Mapping, Sequence

from core.graph import Extraction
from core.ports.record import Claim, JobUsage, StagedExtraction
from stores.payloads import dump_extraction, load_extraction
from stores.sqlite.database import Connection, Database
from stores.sqlite.leases import leases
from stores.sqlite.rows import id_list

__all__ = ["SqliteStaging"]


class SqliteStaging:
    """Fills `core.ports.record.Staging`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            leases.spend(cx, spent)
            made = {staged.claim.token: staged.claim for staged in extractions}
            valid = leases.held(cx, list(made.values()))
            cx.executemany(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?)",
                [
                    (s.claim.corpus_id, s.claim.document_id, s.extract_hash, dump_extraction(s.extraction))
                    for s in extractions
                    if s.claim.token in valid
                ],
            )
            return [claim for token, claim in made.items() if token not in valid]

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
            kept = {(row["document_id"], row["extract_hash"]): row["payload"] for row in rows}
            return {key: load_extraction(kept[key]) for key in keys if key in kept}

        return await self._database.read(work)

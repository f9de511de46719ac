"""Everything that readers see of a corpus, row by row."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from typing import IO

from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.record.export_rows import export_rows

__all__ = ["Neo4jExporter"]

_STATE = statements("graph")["corpus"]
_TRIES = 2
_BATCH = 2000


class Neo4jExporter:
    """Fills `core.ports.record.Exporter`.

    Neo4j shows a transaction what others commit while it reads, so the rows go to a file first, and count if the
    generation is still the same behind them. A corpus that is written all the time is read under its lock in the end.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncIterator[Mapping[str, object]]:
        with tempfile.TemporaryFile("w+", encoding="utf-8", prefix="hopweave-export-") as spool:
            await self._fill(spool, corpus_id, canonical=canonical)
            spool.seek(0)
            while lines := await asyncio.to_thread(lambda: list(islice(spool, _BATCH))):
                for line in lines:
                    yield json.loads(line)

    async def _fill(self, spool: IO[str], corpus_id: str, *, canonical: bool) -> None:
        def work(tx: Transaction) -> bool:
            """Whether nobody wrote meanwhile."""
            before = tx.row(_STATE, corpus=corpus_id)
            spool.seek(0)
            spool.truncate()
            for row in export_rows(tx, corpus_id, canonical=canonical):
                spool.write(json.dumps(row) + "\n")
            return tx.row(_STATE, corpus=corpus_id) == before

        for _ in range(_TRIES):
            if await self._database.read(work):
                return
        await self._database.write(corpus_id, work)

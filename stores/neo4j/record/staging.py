"""The port of staging in Neo4j: extractions that are stored before their revision is committed."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from core.errors import NotFound
from core.graph import Extraction
from core.ports.record import Claim, JobUsage, StagedExtraction
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import document_uid, uid_of
from stores.neo4j.leases import claims
from stores.payloads import dump_extraction, load_extraction

__all__ = ["Neo4jStaging"]


class Neo4jStaging:
    """Fills `core.ports.record.Staging`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        jobs = {one.job_id for one in spent}
        corpora = await self._database.read(lambda tx: claims.corpora_of(tx, jobs)) if jobs else {}
        fenced: list[Claim] = []
        for corpus_id in sorted({*corpora.values(), *(one.claim.corpus_id for one in extractions)}):
            made = [one for one in extractions if one.claim.corpus_id == corpus_id]
            cost = [one for one in spent if corpora.get(one.job_id) == corpus_id]
            try:
                fenced += await self._database.write(corpus_id, partial(_stage, extractions=made, spent=cost))
            except NotFound:
                await self._database.write_unlocked(partial(claims.spend, spent=cost))
                fenced += {one.claim.token: one.claim for one in made}.values()
        return fenced

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        return await self._database.read(lambda tx: _staged(tx, corpus_id, keys))


def _stage(tx: Transaction, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage]) -> list[Claim]:
    claims.spend(tx, spent)
    return _stage_extractions(tx, extractions)


def _stage_extractions(tx: Transaction, extractions: Sequence[StagedExtraction]) -> list[Claim]:
    """Returns the claims that are fenced, of which nothing is stored."""
    made = {one.claim.token: one.claim for one in extractions}
    right = claims.held(tx, list(made.values()))
    rows = {
        f"{document_uid(one.claim)}:{one.extract_hash}": {
            "document_uid": document_uid(one.claim),
            "corpus_id": one.claim.corpus_id,
            "document_id": one.claim.document_id,
            "extract_hash": one.extract_hash,
            "payload": dump_extraction(one.extraction),
        }
        for one in extractions
        if one.claim.token in right
    }
    tx.run_batches(statements("work")["stage"], [{"uid": uid, **row} for uid, row in sorted(rows.items())])
    return [claim for token, claim in made.items() if token not in right]


def _staged(tx: Transaction, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
    uids = sorted(f"{uid_of(corpus_id, document)}:{hash}" for document, hash in keys)
    rows = rows_of(tx, statements("work")["staged"], uids)
    return {(row["document"], row["hash"]): load_extraction(row["payload"]) for row in rows}

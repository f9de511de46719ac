"""The port `Staging` in Neo4j: extractions that are stored before their revision is committed."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from core.errors import NotFound
from core.graph import Extraction
from core.ports.record import Claim, JobUsage, StagedExtraction
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.node_uids import document_uid, uid_of
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases import claims
from stores.payloads import dump_extraction, load_extraction

__all__ = ["Neo4jStaging"]


class Neo4jStaging:
    """Implements `core.ports.record.Staging`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        jobs = {one.job_id for one in spent}
        corpora = await self._database.read(lambda tx: claims.corpora_of_jobs(tx, jobs)) if jobs else {}
        fenced: list[Claim] = []
        for corpus_id in sorted({*corpora.values(), *(one.claim.corpus_id for one in extractions)}):
            staged = [one for one in extractions if one.claim.corpus_id == corpus_id]
            usage = [one for one in spent if corpora.get(one.job_id) == corpus_id]
            try:
                fenced += await self._database.write(corpus_id, partial(_stage, extractions=staged, spent=usage))
            except NotFound:
                await self._database.write_unlocked(partial(claims.spend, spent=usage))
                fenced += {one.claim.token: one.claim for one in staged}.values()
        return fenced

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        return await self._database.read(lambda tx: _staged(tx, corpus_id, keys))


def _stage(tx: Transaction, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage]) -> list[Claim]:
    """Returns the fenced claims, of which nothing is stored."""
    claims.spend(tx, spent)
    by_token = {one.claim.token: one.claim for one in extractions}
    valid = claims.valid_claims(tx, list(by_token.values()))
    rows = {
        f"{document_uid(one.claim)}:{one.extract_hash}": {
            "document_uid": document_uid(one.claim),
            "corpus_id": one.claim.corpus_id,
            "document_id": one.claim.document_id,
            "extract_hash": one.extract_hash,
            "payload": dump_extraction(one.extraction),
        }
        for one in extractions
        if one.claim.token in valid
    }
    tx.run_batches(statements("staging")["stage"], [{"uid": uid, **row} for uid, row in sorted(rows.items())])
    return [claim for token, claim in by_token.items() if token not in valid]


def _staged(tx: Transaction, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
    uids = sorted(f"{uid_of(corpus_id, document)}:{hash}" for document, hash in keys)
    rows = tx.rows_in_batches(statements("staging")["staged"], uids)
    return {(row["document"], row["hash"]): load_extraction(row["payload"]) for row in rows}

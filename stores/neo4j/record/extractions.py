"""Staged extractions: stored before their revision is committed, so that no model call is paid for twice."""

from collections.abc import Collection, Mapping, Sequence

from core.graph import Extraction
from core.ports.record import Claim, Staged
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import document_uid, uid_of
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import valid_claims
from stores.payloads import dump_extraction, load_extraction

__all__ = ["stage", "staged"]


def stage(tx: Transaction, extractions: Sequence[Staged]) -> list[Claim]:
    """Stores extractions. Returns the fenced claims, of which nothing was stored."""
    claims = {one.claim.token: one.claim for one in extractions}
    valid = valid_claims(tx, list(claims.values()))
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
    tx.run_batches(statements("work")["stage"], [{"uid": uid, **row} for uid, row in sorted(rows.items())])
    return [claim for token, claim in claims.items() if token not in valid]


def staged(tx: Transaction, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
    uids = sorted(f"{uid_of(corpus_id, document)}:{hash}" for document, hash in keys)
    rows = tx.rows_in_batches(statements("work")["staged"], uids)
    return {(row["document"], row["hash"]): load_extraction(row["payload"]) for row in rows}

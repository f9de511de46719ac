"""Revisions that come prepared: queued and claimed in one step, so that nobody else begins them."""

from collections.abc import Sequence

from core.documents import OnConflict
from core.ports.record import Claim, NewRevision
from stores.neo4j.driver.database import Transaction
from stores.neo4j.leases.claims import take_of
from stores.neo4j.leases.submissions import living, submit
from stores.neo4j.record.jobs import touch_job

__all__ = ["adopt"]


def adopt(
    tx: Transaction,
    corpus_id: str,
    revisions: Sequence[NewRevision],
    worker: str,
    *,
    job_id: str,
    lease_seconds: float,
) -> list[Claim]:
    """See `core.ports.record.Claims.enqueue_claimed`; the keys are distinct."""
    living(tx)
    documents = submit(tx, corpus_id, revisions, OnConflict.REPLACE, job_id)
    touch_job(tx, job_id)
    return take_of(tx, corpus_id, [one.id for one in documents if not one.unchanged], worker, lease_seconds)

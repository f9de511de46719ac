"""Revisions that come prepared: queued and claimed in one step, so that nobody else begins them."""

from collections import Counter
from collections.abc import Sequence

from core.documents import OnConflict
from core.errors import InvalidInput, NotFound
from core.ports.record import Claim, NewRevision
from stores.neo4j.claims import take_of
from stores.neo4j.database import Transaction
from stores.neo4j.jobs import touch_job
from stores.neo4j.submissions import submit

__all__ = ["adopt", "refuse_twice"]


def adopt(
    tx: Transaction,
    corpus_id: str,
    revisions: Sequence[NewRevision],
    worker: str,
    *,
    job_id: str,
    lease_seconds: float,
) -> list[Claim]:
    """See `core.ports.record.WorkQueue.adopt`; the keys are distinct."""
    if tx.corpus.get("name") is None and tx.corpus.get("beside") is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    documents = submit(tx, corpus_id, revisions, OnConflict.REPLACE, job_id)
    touch_job(tx, job_id)
    return take_of(tx, corpus_id, [one.id for one in documents if not one.unchanged], worker, lease_seconds)


def refuse_twice(revisions: Sequence[NewRevision]) -> None:
    twice = [key for key, n in Counter(revision.key for revision in revisions).items() if n > 1]
    if twice:
        shown = ", ".join(repr(key) for key in twice[:5])
        raise InvalidInput(
            f"the key {shown} was given more than once in one call; keys name documents, so give each its own"
        )

"""Submissions: compares them with the newest revisions of their documents, and queues what is new.

These are functions of a transaction that has locked the corpus.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.ids import document_id
from core.ports.record import Claim, EnqueuedDocument, NewRevision
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import claim_documents
from stores.neo4j.leases.jobs import touch_job
from stores.neo4j.leases.revisions import queue_revisions
from stores.neo4j.leases.states import STOPPABLE, count, move

__all__ = [
    "RETRIABLE",
    "check_keys_are_new",
    "enqueue_claimed",
    "is_unchanged",
    "live_corpus",
    "newest_revisions",
    "submit",
]

RETRIABLE = (RevisionState.FAILED.value, RevisionState.CANCELLED.value)


@dataclass
class _Plan:
    """The changes that the submissions of one call require.

    `new` are revisions to queue, `superseded` the uids of revisions to cancel, `joining` the rows of unfinished
    revisions that the job takes over.
    """

    new: list[NewRevision] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    joining: list[Row] = field(default_factory=list)


def submit(
    tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], on_conflict: OnConflict, job_id: str
) -> tuple[EnqueuedDocument, ...]:
    """Queues submissions, whose keys are distinct, for a job. Updates the counts and the end of the job."""
    newest = newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    plan = _Plan()
    documents = tuple(_add_to_plan(plan, one, newest.get(document_id(one.key)), on_conflict) for one in revisions)
    move(tx, plan.superseded, RevisionState.CANCELLED, reason="superseded", fence=True)
    queue_revisions(tx, corpus_id, plan.new, job_id)
    changes = Counter(
        {
            (job_id, RevisionState.QUEUED.value): len(plan.new),
            (job_id, "unchanged"): sum(one.unchanged for one in documents),
            (job_id, "skipped"): sum(one.skipped for one in documents),
        }
    )
    _move_to_job(tx, plan.joining, job_id, changes)
    count(tx, changes)
    return documents


def enqueue_claimed(
    tx: Transaction,
    corpus_id: str,
    revisions: Sequence[NewRevision],
    worker: str,
    *,
    job_id: str,
    lease_seconds: float,
) -> list[Claim]:
    """Queues submissions and claims them in the same transaction, so that no other worker claims them.

    The keys are distinct. Unchanged submissions give no claim.
    """
    live_corpus(tx)
    documents = submit(tx, corpus_id, revisions, OnConflict.REPLACE, job_id)
    touch_job(tx, job_id)
    return claim_documents(tx, corpus_id, [one.id for one in documents if not one.unchanged], worker, lease_seconds)


def _add_to_plan(plan: _Plan, revision: NewRevision, newest: Row | None, on_conflict: OnConflict) -> EnqueuedDocument:
    id = document_id(revision.key)
    if newest is not None:
        state = RevisionState(newest["state"])
        if is_unchanged(newest, revision.fingerprint):
            if not state.final:
                plan.joining.append(newest)
            return EnqueuedDocument(id=id, key=revision.key, state=state, unchanged=state.final)
        if on_conflict is OnConflict.SKIP and not newest["hidden"]:
            return EnqueuedDocument(id=id, key=revision.key, state=state, skipped=True)
        if state in STOPPABLE:
            plan.superseded.append(newest["uid"])
    plan.new.append(revision)
    return EnqueuedDocument(id=id, key=revision.key, state=RevisionState.QUEUED)


def _move_to_job(tx: Transaction, rows: Sequence[Row], job_id: str, changes: Counter[tuple[str, str]]) -> None:
    """Moves unfinished revisions to the job that submitted them last, whose client waits for them.

    The client of the first job may be gone. Adds to `changes` how the counts of the jobs change.
    """
    moved = [row for row in rows if row["job_id"] != job_id]
    tx.run_batches(statements("submissions")["set_job"], sorted(row["uid"] for row in moved), job_id=job_id)
    for row in moved:
        changes[row["job_id"], row["state"]] -= 1
        changes[job_id, row["state"]] += 1
    paused = [row["uid"] for row in moved if row["state"] == RevisionState.PAUSED.value]
    move(tx, paused, RevisionState.QUEUED)  # the budget of the other job had paused them


def is_unchanged(newest: Row, fingerprint: str, *, final: bool = False) -> bool:
    """Whether a submission equals the newest revision; with `final`, whether that revision is also final."""
    if newest["fingerprint"] != fingerprint or newest["state"] in RETRIABLE or newest["deletion"]:
        return False
    return not final or RevisionState(newest["state"]).final


def newest_revisions(tx: Transaction, corpus_id: str, document_ids: Iterable[str]) -> Mapping[str, Row]:
    """Returns the newest revisions of the documents that exist, by document id. Includes documents being deleted."""
    uids = sorted(uid_of(corpus_id, id) for id in document_ids)
    return {row["id"]: row for row in tx.rows_in_batches(statements("submissions")["newest"], uids)}


def check_keys_are_new(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    """Raises `Conflict` if a document with one of the keys exists and is not being deleted."""
    newest = newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    visible = {row["key"] for row in newest.values() if not row["hidden"]}
    taken = [revision.key for revision in revisions if revision.key in visible]
    if taken:
        more = f" and {len(taken) - 10} more" if len(taken) > 10 else ""
        raise Conflict(f"documents with these keys exist already: {', '.join(taken[:10])}{more}; nothing was written")


def live_corpus(tx: Transaction) -> Corpus:
    """Returns the locked corpus. Raises `NotFound` if it was deleted: it has no name and is no shadow corpus."""
    if tx.corpus.get("name") is None and tx.corpus.get("beside") is None:
        raise NotFound(f"there is no corpus with the id {tx.corpus['id']!r}; it may have been deleted")
    return corpus_from_row(tx.corpus)

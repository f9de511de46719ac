"""Submissions: compares them with the newest revisions of their documents, and queues the new ones.

These are functions of a transaction that has locked the corpus.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.ids import document_id
from core.ports.record import Claim, EnqueuedDocument, NewRevision
from core.record_policy.errors import corpus_missing
from core.record_policy.states import SUPERSEDED
from core.record_policy.submissions import NewestRevision, SubmissionOutcome, decide_submission, is_conflict, keys_exist
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import claim_documents
from stores.neo4j.leases.jobs import touch_job
from stores.neo4j.leases.revisions import queue_revisions
from stores.neo4j.leases.states import count, move

__all__ = [
    "check_no_conflict",
    "enqueue_claimed",
    "live_corpus",
    "newest_of_row",
    "newest_revisions",
    "submit",
]


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
    move(tx, plan.superseded, RevisionState.CANCELLED, reason=SUPERSEDED, fence=True)
    queue_revisions(tx, corpus_id, plan.new, job_id)
    changes = Counter(
        {
            (job_id, RevisionState.QUEUED.value): len(plan.new),
            (job_id, "unchanged"): sum(one.unchanged for one in documents),
            (job_id, "skipped"): sum(one.skipped for one in documents),
        }
    )
    bytes = Counter({job_id: sum(one.size for one in plan.new)})
    _move_to_job(tx, plan.joining, job_id, changes, bytes)
    count(tx, changes, bytes=bytes)
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


def _add_to_plan(plan: _Plan, revision: NewRevision, row: Row | None, on_conflict: OnConflict) -> EnqueuedDocument:
    decision = decide_submission(revision, newest_of_row(row) if row is not None else None, on_conflict)
    if row is not None and decision.outcome is SubmissionOutcome.SAME_UNFINISHED:
        plan.joining.append(row)
    if row is not None and decision.outcome is SubmissionOutcome.SUPERSEDES:
        plan.superseded.append(row["uid"])
    if decision.outcome.makes_revision:
        plan.new.append(revision)
    return decision.document


def newest_of_row(row: Row) -> NewestRevision:
    """Takes a row of `newest_revisions`."""
    return NewestRevision(
        state=RevisionState(row["state"]),
        fingerprint=row["fingerprint"],
        deletion=row["deletion"],
        hidden=row["hidden"],
    )


def _move_to_job(
    tx: Transaction, rows: Sequence[Row], job_id: str, changes: Counter[tuple[str, str]], bytes: Counter[str]
) -> None:
    """Moves unfinished revisions to the job that submitted them last, whose client waits for them.

    The client of the first job may be gone. Adds to `changes` how the counts of the jobs change, and to `bytes` the
    bytes of the revisions.
    """
    moved = [row for row in rows if row["job_id"] != job_id]
    tx.run_batches(statements("submissions")["set_job"], sorted(row["uid"] for row in moved), job_id=job_id)
    for row in moved:
        changes[row["job_id"], row["state"]] -= 1
        changes[job_id, row["state"]] += 1
        bytes[row["job_id"]] -= row["size"]
        bytes[job_id] += row["size"]
    paused = [row["uid"] for row in moved if row["state"] == RevisionState.PAUSED.value]
    move(tx, paused, RevisionState.QUEUED)  # the budget of the other job had paused them


def newest_revisions(tx: Transaction, corpus_id: str, document_ids: Iterable[str]) -> Mapping[str, Row]:
    """Returns the newest revisions of the documents that exist, by document id. Includes documents being deleted."""
    uids = sorted(uid_of(corpus_id, id) for id in document_ids)
    return {row["id"]: row for row in tx.rows_in_batches(statements("submissions")["newest"], uids)}


def check_no_conflict(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    """Raises `Conflict`, listing the keys of the documents that exist and differ."""
    newest = newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    documents = [(one, newest.get(document_id(one.key))) for one in revisions]
    taken = [one.key for one, row in documents if row is not None and is_conflict(newest_of_row(row), one.fingerprint)]
    if taken:
        raise keys_exist(taken)


def live_corpus(tx: Transaction) -> Corpus:
    """Returns the locked corpus. Raises `NotFound` if it was deleted: it has no name and is no shadow corpus."""
    if tx.corpus.get("name") is None and tx.corpus.get("beside") is None:
        raise corpus_missing(tx.corpus["id"])
    return corpus_from_row(tx.corpus)

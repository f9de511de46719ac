"""What is handed in becomes queued revisions: judged by the newest ones that there are, then written in few statements.

Functions of a transaction that has locked the corpus.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.ids import document_id
from core.ports.record import EnqueuedDocument, NewRevision
from stores.neo4j.driver.database import Row, Transaction, batches
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.queued import add_revisions
from stores.neo4j.leases.states import STOPPABLE, count, move
from stores.neo4j.rows import corpus_from_row

__all__ = ["RETRIABLE", "is_same", "living", "newest", "refuse_existing", "submit"]

RETRIABLE = (RevisionState.FAILED.value, RevisionState.CANCELLED.value)


@dataclass
class _Plan:
    """What is to be written for the submissions of one call."""

    new: list[NewRevision] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    adopted: list[Row] = field(default_factory=list)


def submit(
    tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], on_conflict: OnConflict, job_id: str
) -> tuple[EnqueuedDocument, ...]:
    """Queue submissions, with distinct keys, for a job; its counts and its end follow."""
    there = newest(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    plan = _Plan()
    documents = tuple(_judge(plan, one, there.get(document_id(one.key)), on_conflict) for one in revisions)
    move(tx, plan.superseded, RevisionState.CANCELLED, reason="superseded", fence=True)
    add_revisions(tx, corpus_id, plan.new, job_id)
    changes = Counter(
        {
            (job_id, RevisionState.QUEUED.value): len(plan.new),
            (job_id, "unchanged"): sum(one.unchanged for one in documents),
            (job_id, "skipped"): sum(one.skipped for one in documents),
        }
    )
    _adopt(tx, plan.adopted, job_id, changes)
    count(tx, changes)
    return documents


def _judge(plan: _Plan, revision: NewRevision, row: Row | None, on_conflict: OnConflict) -> EnqueuedDocument:
    id = document_id(revision.key)
    if row is not None:
        state = RevisionState(row["state"])
        if is_same(row, revision.fingerprint):
            if not state.final:
                plan.adopted.append(row)
            return EnqueuedDocument(id=id, key=revision.key, state=state, unchanged=state.final)
        if on_conflict is OnConflict.SKIP and not row["hidden"]:
            return EnqueuedDocument(id=id, key=revision.key, state=state, skipped=True)
        if state in STOPPABLE:
            plan.superseded.append(row["uid"])
    plan.new.append(revision)
    return EnqueuedDocument(id=id, key=revision.key, state=RevisionState.QUEUED)


def _adopt(tx: Transaction, rows: Sequence[Row], job_id: str, changes: Counter[tuple[str, str]]) -> None:
    """Put unfinished revisions into the job of who asked for them last: he waits for them, the first may be dead.

    Notes in `changes` how the counts of all jobs concerned change by it.
    """
    moved = [row for row in rows if row["job_id"] != job_id]
    tx.run_batches(statements("intake")["give"], sorted(row["uid"] for row in moved), job_id=job_id)
    for row in moved:
        changes[row["job_id"], row["state"]] -= 1
        changes[job_id, row["state"]] += 1
    paused = [row["uid"] for row in moved if row["state"] == RevisionState.PAUSED.value]
    move(tx, paused, RevisionState.QUEUED)  # by the budget of the other job


def is_same(row: Row, fingerprint: str, *, final: bool = False) -> bool:
    """Whether a submission brings nothing new; with `final` only where it is indexed already."""
    if row["fingerprint"] != fingerprint or row["state"] in RETRIABLE or row["deletion"]:
        return False
    return not final or RevisionState(row["state"]).final


def newest(tx: Transaction, corpus_id: str, document_ids: Iterable[str]) -> Mapping[str, Row]:
    """By the documents' ids, the newest revisions of those that are there, also where they are going."""
    uids = sorted(f"{corpus_id}:{id}" for id in document_ids)
    return {row["id"]: row for batch in batches(uids) for row in tx.rows(statements("intake")["newest"], rows=batch)}


def refuse_existing(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    there = newest(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    visible = {row["key"] for row in there.values() if not row["hidden"]}
    taken = [revision.key for revision in revisions if revision.key in visible]
    if taken:
        more = f" and {len(taken) - 10} more" if len(taken) > 10 else ""
        raise Conflict(f"documents with these keys exist already: {', '.join(taken[:10])}{more}; nothing was written")


def living(tx: Transaction) -> Corpus:
    """The locked corpus, if it has a name, or will have one."""
    if tx.corpus.get("name") is None and tx.corpus.get("beside") is None:
        raise NotFound(f"there is no corpus with the id {tx.corpus['id']!r}; it may have been deleted")
    return corpus_from_row(tx.corpus)

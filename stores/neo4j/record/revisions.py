"""Revisions in the queue, as functions of one transaction: their states, and the rows of new revisions.

First come the states, with the counts of their jobs; no other module writes `Revision.state`. Then come the rows of
queued revisions: their numbers, which are never used twice, and their documents.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.documents import RevisionState
from core.ids import document_id
from core.ports.record import NewRevision
from core.record_policy.submissions import WORKING
from stores.neo4j.driver.rows import JOB_COUNTS, uid_of
from stores.neo4j.driver.transaction import Transaction, statements
from stores.record_rows import dump, dump_access


def move(
    tx: Transaction, uids: Collection[str], state: RevisionState, *, reason: str | None = None, fence: bool = False
) -> None:
    """Moves revisions to `state`. Updates the states of their documents, and the counts, starts and ends of their jobs.

    With `fence` the epoch rises and the owner is deleted, which fences every claim on them.
    """
    changes: Counter[tuple[str, str]] = Counter()
    bytes_done: Counter[str] = Counter()
    keep = state.in_work and state is not RevisionState.LOADING  # the progress of a claim
    rows = sorted(set(uids))
    for row in tx.rows_in_batches(
        statements("states")["move"], rows, state=state.value, reason=reason, fence=int(fence), keep=keep
    ):
        changes[row["job"], row["before"]] -= row["n"]
        changes[row["job"], state.value] += row["n"]
        bytes_done[row["job"]] += row["bytes"] * (state.final - RevisionState(row["before"]).final)
    count(tx, changes, bytes_done=bytes_done)


def count(
    tx: Transaction,
    changes: Mapping[tuple[str, str], int],
    *,
    bytes: Mapping[str, int] = {},
    bytes_done: Mapping[str, int] = {},
) -> None:
    """Adds to the counts of jobs, by (job id, state), and updates the starts and ends of the jobs.

    `bytes` are the bytes of the revisions that jobs got or lost, `bytes_done` of the revisions that became final, by
    job id. `changes` names all their jobs.
    """
    jobs: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (job_id, state), change in changes.items():
        jobs[job_id][state] = change
    rows = [
        {
            "id": job_id,
            "bytes": bytes.get(job_id, 0),
            "bytes_done": bytes_done.get(job_id, 0),
            "started": any(changed.get(state, 0) > 0 for state in WORKING),
            **{state: changed.get(state, 0) for state in JOB_COUNTS},
        }
        for job_id, changed in sorted(jobs.items())
    ]
    tx.run_batches(statements("states")["count"], rows)


def finish_if_done(tx: Transaction, job_ids: Collection[str]) -> None:
    """Sets the end of jobs that are closed and have no unfinished revision; deletes the end if work came back.

    `move` and `count` do this themselves.
    """
    count(tx, {(job_id, RevisionState.QUEUED.value): 0 for job_id in job_ids})


def queue_revisions(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], job_id: str) -> None:
    """Writes queued revisions in this order, each the newest of its document. Creates documents that do not exist."""
    rows = [
        {
            "document": {
                "corpus_id": corpus_id,
                "id": document_id(revision.key),
                "key": revision.key,
                "title": revision.title or revision.key,
                "metadata": dump(dict(revision.metadata)),
            },
            "revision": {
                **_properties(corpus_id, document_id(revision.key), number, job_id),
                "fingerprint": revision.fingerprint,
                "content_hash": revision.content_hash,
                "media_type": revision.media_type,
                "size": revision.size,
                "title": revision.title,
                "metadata": dump(dict(revision.metadata)),
                "access": dump_access(revision.access),
            },
        }
        for number, revision in zip(_take_numbers(tx, corpus_id, len(revisions)), revisions, strict=True)
    ]
    rows.sort(key=lambda row: row["revision"]["document_uid"])
    tx.run_batches(statements("submissions")["queue_revisions"], rows)


def queue_deletions(tx: Transaction, corpus_id: str, document_ids: Sequence[str], job_id: str) -> None:
    """Writes queued revisions that delete documents. Readers no longer see the documents."""
    nothing = {"fingerprint": "", "content_hash": "", "media_type": "", "size": 0, "metadata": "{}"}
    rows = [
        {**_properties(corpus_id, id, number, job_id), **nothing}
        for number, id in zip(_take_numbers(tx, corpus_id, len(document_ids)), document_ids, strict=True)
    ]
    rows.sort(key=lambda row: str(row["document_uid"]))
    tx.run_batches(statements("submissions")["queue_deletions"], rows, corpus_id=corpus_id)


def requeue_deletions(tx: Transaction, uids: Collection[str]) -> None:
    """Queues the deletions again that these revisions superseded before they were cancelled or failed.

    Without them, the rows and the original of a document would stay, though its deletion was accepted, and nobody would
    see them. The jobs of the revisions delete the documents.
    """
    documents: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in tx.rows_in_batches(statements("submissions")["superseded_deletions"], sorted(set(uids))):
        documents[row["corpus_id"], row["job_id"]].append(row["document_id"])
    for (corpus_id, job_id), ids in sorted(documents.items()):
        queue_deletions(tx, corpus_id, sorted(ids), job_id)
    count(tx, Counter({(job, RevisionState.QUEUED.value): len(ids) for (_, job), ids in documents.items()}))


def _take_numbers(tx: Transaction, corpus_id: str, count: int) -> range:
    """Returns numbers that are greater than all before.

    A number is never used twice in a corpus, not even for a document that was deleted and submitted again.
    """
    if not count:
        return range(0)
    last = int(tx.rows(statements("submissions")["take_numbers"], id=corpus_id, count=count)[0]["last"])
    return range(last - count + 1, last + 1)


def _properties(corpus_id: str, document_id: str, number: int, job_id: str) -> Mapping[str, Any]:
    return {
        "uid": f"{uid_of(corpus_id, document_id)}:{number}",
        "corpus_id": corpus_id,
        "document_id": document_id,
        "document_uid": uid_of(corpus_id, document_id),
        "number": number,
        "seq": number,
        "state": RevisionState.QUEUED.value,
        "job_id": job_id,
    }

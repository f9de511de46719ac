"""The port of submissions in Neo4j: submissions and deletions become queued revisions of a job.

The functions of one transaction come first; they take a transaction that has locked the corpus. The port comes last.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.filters import DocumentFilter
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Check, Deletion, Enqueued, EnqueuedDocument, NewRevision
from core.principals import DocumentAccess
from core.record_policy.errors import corpus_missing, document_missing, document_outside
from core.record_policy.submissions import (
    STOPPABLE,
    SUPERSEDED,
    NewestRevision,
    SubmissionOutcome,
    check_amendable,
    check_distinct_keys,
    check_retriable,
    decide_access,
    decide_submission,
    is_being_deleted,
    is_conflict,
    is_unchanged,
    is_visible,
    keys_exist,
)
from stores.neo4j.certificates import insert_answers
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import corpus_from_row, uid_of
from stores.neo4j.driver.transaction import Row, Transaction, batches, statements
from stores.neo4j.questions import withdraw
from stores.neo4j.record.change_log import log_changes, raise_generation
from stores.neo4j.record.jobs import close_job, insert_job, lock_job, number_job, read_job, touch_job
from stores.neo4j.record.revisions import count, move, queue_deletions, queue_revisions
from stores.record_rows import dump_access, is_within, load_access, load_new_revision


@dataclass
class _Plan:
    """The changes that the submissions of one call require.

    `new` are revisions to queue, `superseded` the uids of revisions to cancel, `joining` the rows of unfinished
    revisions that the job takes over. `access` are changes of documents by id, `pending` changes of present revisions
    by uid.
    """

    new: list[NewRevision] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    joining: list[Row] = field(default_factory=list)
    access: dict[str, DocumentAccess] = field(default_factory=dict)
    pending: dict[str, DocumentAccess] = field(default_factory=dict)


def submit(
    tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], on_conflict: OnConflict, job_id: str
) -> tuple[EnqueuedDocument, ...]:
    """Queues submissions, whose keys are distinct, for a job. Updates the counts and the end of the job."""
    newest = _newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    plan = _Plan()
    documents = tuple(
        _add_to_plan(plan, revision, newest.get(document_id(revision.key)), on_conflict) for revision in revisions
    )
    move(tx, plan.superseded, RevisionState.CANCELLED, reason=SUPERSEDED, fence=True)
    queue_revisions(tx, corpus_id, plan.new, job_id)
    _set_access(tx, corpus_id, plan.access)
    tx.run_batches(statements("submissions")["set_pending_access"], _access_rows(plan.pending))
    changes = Counter(
        {
            (job_id, RevisionState.QUEUED.value): len(plan.new),
            (job_id, "unchanged"): sum(document.unchanged for document in documents),
            (job_id, "skipped"): sum(document.skipped for document in documents),
        }
    )
    bytes = Counter({job_id: sum(revision.size for revision in plan.new)})
    _move_to_job(tx, plan.joining, job_id, changes, bytes)
    count(tx, changes, bytes=bytes)
    return documents


def _add_to_plan(plan: _Plan, revision: NewRevision, row: Row | None, on_conflict: OnConflict) -> EnqueuedDocument:
    newest = _newest_of_row(row) if row is not None else None
    decision = decide_submission(revision, newest, on_conflict)
    if row is not None and decision.outcome is SubmissionOutcome.SAME_UNFINISHED:
        plan.joining.append(row)
    if row is not None and decision.outcome is SubmissionOutcome.SUPERSEDES:
        plan.superseded.append(row["uid"])
    access = decide_access(decision.outcome, revision.access, newest)
    if decision.outcome.makes_revision:
        plan.new.append(replace(revision, access=access.pending))
    elif row is not None and newest is not None and access.pending != newest.pending:
        plan.pending[row["uid"]] = access.pending
    if access.document != (None if newest is None else newest.access):
        plan.access[decision.document.id] = access.document
    return decision.document


def _access_rows(access: Mapping[str, DocumentAccess]) -> list[Row]:
    return [{"uid": uid, "access": dump_access(one)} for uid, one in sorted(access.items())]


def _set_access(tx: Transaction, corpus_id: str, access: Mapping[str, DocumentAccess]) -> None:
    """Writes who may see documents, by id, and raises the generation, by which other processes follow."""
    if access:
        rows = _access_rows({uid_of(corpus_id, id): one for id, one in access.items()})
        tx.run_batches(statements("submissions")["set_access"], rows)
        raise_generation(tx, corpus_id)


def _newest_of_row(row: Row) -> NewestRevision:
    """Takes a row of `_newest_revisions`."""
    return NewestRevision(
        state=RevisionState(row["state"]),
        fingerprint=row["fingerprint"],
        deletion=row["deletion"],
        hidden=row["hidden"],
        access=load_access(row["access"]),
        pending=load_access(row["pending"]),
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


def _newest_revisions(tx: Transaction, corpus_id: str, document_ids: Iterable[str]) -> Mapping[str, Row]:
    """Returns the newest revisions of the documents that exist, by document id. Includes documents being deleted."""
    uids = sorted(uid_of(corpus_id, id) for id in document_ids)
    return {row["id"]: row for row in tx.rows_in_batches(statements("submissions")["newest"], uids)}


def _check_within(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], where: DocumentFilter) -> None:
    """Raises `Forbidden` for the key of a document that exists and does not match."""
    newest = _newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    for row in newest.values():
        if is_visible(_newest_of_row(row)) and not _is_within(where, row):
            raise document_outside(row["key"])


def _is_within(where: DocumentFilter | None, row: Row) -> bool:
    """Takes a row of `_newest_revisions`."""
    return is_within(where, row.__getitem__, lambda name: row[f"submitted_{name}"])


def _is_seen(where: DocumentFilter | None, row: Row) -> bool:
    return is_visible(_newest_of_row(row)) and _is_within(where, row)


def _check_no_conflict(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    """Raises `Conflict`, listing the keys of the documents that exist and differ."""
    newest = _newest_revisions(tx, corpus_id, [document_id(revision.key) for revision in revisions])
    documents = [(revision, newest.get(document_id(revision.key))) for revision in revisions]
    taken = [
        document.key
        for document, row in documents
        if row is not None and is_conflict(_newest_of_row(row), document.fingerprint)
    ]
    if taken:
        raise keys_exist(taken)


def live_corpus(tx: Transaction) -> Corpus:
    """Returns the locked corpus. Raises `NotFound` if it was deleted: it has no name and is no shadow corpus."""
    if tx.corpus.get("name") is None and tx.corpus.get("beside") is None:
        raise corpus_missing(tx.corpus["id"])
    return corpus_from_row(tx.corpus)


class Neo4jSubmissions:
    """Implements `core.ports.record.Submissions`, for a caller that may change the documents that match `where`."""

    def __init__(
        self, database: Neo4jDatabase, submitted_by: str | None = None, where: DocumentFilter | None = None
    ) -> None:
        self._database = database
        self._submitted_by = submitted_by
        self._where = where

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        check_distinct_keys(revisions)

        def work(tx: Transaction) -> Enqueued:
            corpus = live_corpus(tx)
            if self._where is not None:
                _check_within(tx, corpus_id, revisions, self._where)
            if on_conflict is OnConflict.ERROR:
                _check_no_conflict(tx, corpus_id, revisions)
            job = job_id or insert_job(
                tx, corpus, JobKind.INGEST, is_open=False, token_budget=token_budget, submitted_by=self._submitted_by
            )
            documents = submit(tx, corpus_id, revisions, on_conflict, job)
            if job_id:
                touch_job(tx, job)
            else:
                number_job(tx, job)
            return Enqueued(job=read_job(tx, job), documents=documents)

        return await self._database.write(corpus_id, work)

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        cypher = statements("submissions")["count_queued"]
        row = await self._database.read(lambda tx: tx.rows(cypher, corpus_id=corpus_id, at_most=at_most)[0])
        return int(row["queued"])

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        ids = {document_id(key): key for key in fingerprints}

        def work(tx: Transaction) -> frozenset[str]:
            newest = _newest_revisions(tx, corpus_id, ids)
            return frozenset(
                ids[id]
                for id, row in newest.items()
                if _is_seen(self._where, row) and is_unchanged(_newest_of_row(row), fingerprints[ids[id]])
            )

        return await self._database.read(work)

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        def work(tx: Transaction) -> str:
            corpus = live_corpus(tx)
            job_id = insert_job(
                tx, corpus, kind, is_open=True, token_budget=token_budget, submitted_by=self._submitted_by
            )
            number_job(tx, job_id)
            return job_id

        return await self._database.write(corpus_id, work)

    async def close_job(self, job_id: str) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            close_job(tx, job_id)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = live_corpus(tx)
            wanted = list(dict.fromkeys(document_ids))
            newest = _newest_deletable(tx, corpus_id, wanted, self._where)
            for id in wanted:
                if id not in newest:
                    raise document_missing(id)
            return _delete(tx, corpus, [newest[id] for id in wanted], self._submitted_by)

        return await self._database.write(corpus_id, work)

    async def delete_existing(self, corpus_id: str, document_ids: Sequence[str]) -> Deletion:
        wanted = list(dict.fromkeys(document_ids))

        def work(tx: Transaction) -> Deletion:
            corpus = live_corpus(tx)
            newest = _newest_deletable(tx, corpus_id, wanted, self._where)
            job = _delete(tx, corpus, [newest[id] for id in wanted if id in newest], self._submitted_by)
            return Deletion(job=job, missing=tuple(id for id in wanted if id not in newest))

        return await self._database.write(corpus_id, work)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            row = _newest_revisions(tx, corpus_id, [document_id]).get(document_id)
            return read_job(tx, row["job_id"]) if row and row["hidden"] and row["deletion"] else None

        return await self._database.read(work)

    async def amend(self, corpus_id: str, document_id: str, change: Callable[[NewRevision], NewRevision]) -> Enqueued:
        def work(tx: Transaction) -> Enqueued:
            corpus = live_corpus(tx)
            [row] = _newest_visible(tx, corpus_id, [document_id], self._where)
            check_amendable(row["key"], row["state"])
            changed = change(_read_submission(tx, row))
            job = insert_job(tx, corpus, JobKind.INGEST, is_open=False, submitted_by=self._submitted_by)
            documents = submit(tx, corpus_id, [changed], OnConflict.REPLACE, job)
            number_job(tx, job)
            return Enqueued(job=read_job(tx, job), documents=documents)

        return await self._database.write(corpus_id, work)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        def work(tx: Transaction) -> frozenset[str]:
            live_corpus(tx)
            newest = _newest_revisions(tx, corpus_id, dict.fromkeys(document_ids))
            found = [row for row in newest.values() if _is_seen(self._where, row)]
            changed = [row for row in found if bool(row["disabled"]) == enabled]
            if changed:
                uids = sorted(uid_of(corpus_id, row["id"]) for row in changed)
                tx.run_batches(statements("submissions")["set_disabled"], uids, disabled=None if enabled else True)
                chunks = _visible_chunks(tx, corpus_id, changed)
                logged = {"put": chunks} if enabled else {"deleted": chunks}
                log_changes(tx, corpus_id, raise_generation(tx, corpus_id), **logged)
            return frozenset(row["id"] for row in changed)

        return await self._database.write(corpus_id, work)

    async def set_access(self, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> frozenset[str]:
        def work(tx: Transaction) -> frozenset[str]:
            live_corpus(tx)
            newest = _newest_revisions(tx, corpus_id, dict.fromkeys(document_ids))
            found = sorted(row["id"] for row in newest.values() if _is_seen(self._where, row))
            uids = [uid_of(corpus_id, id) for id in found]
            tx.run_batches(statements("submissions")["clear_pending_access"], uids)
            _set_access(tx, corpus_id, dict.fromkeys(found, access))
            return frozenset(found)

        return await self._database.write(corpus_id, work)

    async def retry(self, corpus_id: str, document_id: str, *, check: Check | None = None) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = live_corpus(tx)
            [row] = _newest_visible(tx, corpus_id, [document_id], self._where)
            check_retriable(row["key"], row["state"])
            if check is not None:
                check(_read_submission(tx, row))
            job = insert_job(tx, corpus, JobKind.INGEST, is_open=False, submitted_by=self._submitted_by)
            tx.run(statements("submissions")["retry"], uid=row["uid"], job_id=job)
            moved = {row["job_id"]: -row["size"], job: row["size"]}
            count(tx, {(row["job_id"], row["state"]): -1, (job, row["state"]): 1}, bytes=moved, bytes_done=moved)
            move(tx, [row["uid"]], RevisionState.QUEUED)
            number_job(tx, job)
            return read_job(tx, job)

        return await self._database.write(corpus_id, work)


def _read_submission(tx: Transaction, newest: Row) -> NewRevision:
    [submitted] = tx.rows(statements("submissions")["submitted"], uid=newest["uid"])
    return load_new_revision({**submitted["revision"], "key": newest["key"]}.get)


def _delete(tx: Transaction, corpus: Corpus, rows: Sequence[Row], submitted_by: str | None) -> Job:
    """Queues the deletion of documents, by their newest revisions, and withdraws what was made of them."""
    chunks = [id for batch in batches(rows) for id in _visible_chunks(tx, corpus.id, batch)]
    unfinished = [row["uid"] for row in rows if row["state"] in STOPPABLE]
    move(tx, unfinished, RevisionState.CANCELLED, reason=SUPERSEDED, fence=True)
    job = insert_job(tx, corpus, JobKind.DELETE, is_open=False, submitted_by=submitted_by)
    queue_deletions(tx, corpus.id, [row["id"] for row in rows], job)
    withdrawn = withdraw(tx, corpus.id, [row["id"] for row in rows])
    insert_answers(tx, corpus.id, {row["key"]: withdrawn.get(row["id"], 0) for row in rows}, job, submitted_by)
    count(tx, {(job, RevisionState.QUEUED.value): len(rows)})
    log_changes(tx, corpus.id, raise_generation(tx, corpus.id), deleted=chunks)
    number_job(tx, job)
    return read_job(tx, job)


def _newest_deletable(
    tx: Transaction, corpus_id: str, document_ids: Sequence[str], where: DocumentFilter | None
) -> Mapping[str, Row]:
    """Returns the newest revisions of the documents that exist, are not being deleted and match, by document id.

    A document that could not be deleted matches no filter: it has no fields any more.
    """
    newest = _newest_revisions(tx, corpus_id, document_ids)
    if where is not None:
        return {id: row for id, row in newest.items() if _is_seen(where, row)}
    return {id: row for id, row in newest.items() if not is_being_deleted(_newest_of_row(row))}


def _newest_visible(
    tx: Transaction, corpus_id: str, document_ids: Sequence[str], where: DocumentFilter | None
) -> list[Row]:
    """Returns the newest revisions of documents, in this order.

    Raises `NotFound` if a document does not exist, is being deleted or does not match.
    """
    newest = _newest_revisions(tx, corpus_id, document_ids)
    for id in document_ids:
        if id not in newest or not _is_seen(where, newest[id]):
            raise document_missing(id)
    return [newest[id] for id in document_ids]


def _visible_chunks(tx: Transaction, corpus_id: str, documents: Sequence[Row]) -> list[str]:
    """Returns the ids of the chunks of documents that readers see."""
    uids = sorted(uid_of(corpus_id, row["id"]) for row in documents)
    return [id for [id] in tx.stream(statements("submissions")["visible_chunks"], rows=uids)]

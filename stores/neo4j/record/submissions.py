"""The port `Submissions` in Neo4j: submissions and deletions become queued revisions."""

from collections.abc import Callable, Mapping, Sequence

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Check, Deletion, Enqueued, NewRevision
from core.record_policy.errors import document_missing
from core.record_policy.states import STOPPABLE, SUPERSEDED
from core.record_policy.submissions import (
    check_amendable,
    check_distinct_keys,
    check_retriable,
    is_being_deleted,
    is_unchanged,
    is_visible,
)
from stores.neo4j.commit.change_log import log_changes, raise_generation
from stores.neo4j.driver.database import Neo4jDatabase, Row, Transaction, batches
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.jobs import close_job, insert_job, lock_job, number_job, read_job, touch_job
from stores.neo4j.leases.revisions import queue_deletions
from stores.neo4j.leases.states import count, move
from stores.neo4j.leases.submissions import (
    check_no_conflict,
    live_corpus,
    newest_of_row,
    newest_revisions,
    submit,
)
from stores.neo4j.questions import withdraw
from stores.record_rows import load_new_revision

__all__ = ["Neo4jSubmissions"]


class Neo4jSubmissions:
    """Implements `core.ports.record.Submissions`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
        submitted_by: str | None = None,
    ) -> Enqueued:
        check_distinct_keys(revisions)

        def work(tx: Transaction) -> Enqueued:
            corpus = live_corpus(tx)
            if on_conflict is OnConflict.ERROR:
                check_no_conflict(tx, corpus_id, revisions)
            job = job_id or insert_job(
                tx, corpus, JobKind.INGEST, is_open=False, token_budget=token_budget, submitted_by=submitted_by
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
            newest = newest_revisions(tx, corpus_id, ids)
            return frozenset(
                ids[id] for id, row in newest.items() if is_unchanged(newest_of_row(row), fingerprints[ids[id]])
            )

        return await self._database.read(work)

    async def open_job(
        self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None, submitted_by: str | None = None
    ) -> str:
        def work(tx: Transaction) -> str:
            corpus = live_corpus(tx)
            job_id = insert_job(tx, corpus, kind, is_open=True, token_budget=token_budget, submitted_by=submitted_by)
            number_job(tx, job_id)
            return job_id

        return await self._database.write(corpus_id, work)

    async def close_job(self, job_id: str) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            close_job(tx, job_id)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)

    async def delete_documents(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = live_corpus(tx)
            wanted = list(dict.fromkeys(document_ids))
            newest = _newest_deletable(tx, corpus_id, wanted)
            for id in wanted:
                if id not in newest:
                    raise document_missing(id)
            return _delete(tx, corpus, [newest[id] for id in wanted], submitted_by)

        return await self._database.write(corpus_id, work)

    async def delete_existing(
        self, corpus_id: str, document_ids: Sequence[str], *, submitted_by: str | None = None
    ) -> Deletion:
        wanted = list(dict.fromkeys(document_ids))

        def work(tx: Transaction) -> Deletion:
            corpus = live_corpus(tx)
            newest = _newest_deletable(tx, corpus_id, wanted)
            job = _delete(tx, corpus, [newest[id] for id in wanted if id in newest], submitted_by)
            return Deletion(job=job, missing=tuple(id for id in wanted if id not in newest))

        return await self._database.write(corpus_id, work)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            row = newest_revisions(tx, corpus_id, [document_id]).get(document_id)
            return read_job(tx, row["job_id"]) if row and row["hidden"] and row["deletion"] else None

        return await self._database.read(work)

    async def amend(
        self,
        corpus_id: str,
        document_id: str,
        change: Callable[[NewRevision], NewRevision],
        *,
        submitted_by: str | None = None,
    ) -> Enqueued:
        def work(tx: Transaction) -> Enqueued:
            corpus = live_corpus(tx)
            [row] = _newest_visible(tx, corpus_id, [document_id])
            check_amendable(row["key"], row["state"])
            changed = change(_read_submission(tx, row))
            job = insert_job(tx, corpus, JobKind.INGEST, is_open=False, submitted_by=submitted_by)
            documents = submit(tx, corpus_id, [changed], OnConflict.REPLACE, job)
            number_job(tx, job)
            return Enqueued(job=read_job(tx, job), documents=documents)

        return await self._database.write(corpus_id, work)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        def work(tx: Transaction) -> frozenset[str]:
            live_corpus(tx)
            newest = newest_revisions(tx, corpus_id, dict.fromkeys(document_ids))
            found = [row for row in newest.values() if is_visible(newest_of_row(row))]
            changed = [row for row in found if bool(row["disabled"]) == enabled]
            if changed:
                uids = sorted(uid_of(corpus_id, row["id"]) for row in changed)
                tx.run_batches(statements("submissions")["set_disabled"], uids, disabled=None if enabled else True)
                chunks = _visible_chunks(tx, corpus_id, changed)
                logged = {"put": chunks} if enabled else {"deleted": chunks}
                log_changes(tx, corpus_id, raise_generation(tx, corpus_id), **logged)
            return frozenset(row["id"] for row in changed)

        return await self._database.write(corpus_id, work)

    async def retry(
        self, corpus_id: str, document_id: str, *, check: Check | None = None, submitted_by: str | None = None
    ) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = live_corpus(tx)
            [row] = _newest_visible(tx, corpus_id, [document_id])
            check_retriable(row["key"], row["state"])
            if check is not None:
                check(_read_submission(tx, row))
            job = insert_job(tx, corpus, JobKind.INGEST, is_open=False, submitted_by=submitted_by)
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
    withdraw(tx, corpus.id, [row["id"] for row in rows])
    count(tx, {(job, RevisionState.QUEUED.value): len(rows)})
    log_changes(tx, corpus.id, raise_generation(tx, corpus.id), deleted=chunks)
    number_job(tx, job)
    return read_job(tx, job)


def _newest_deletable(tx: Transaction, corpus_id: str, document_ids: Sequence[str]) -> Mapping[str, Row]:
    """Returns the newest revisions of the documents that exist and are not being deleted, by document id."""
    newest = newest_revisions(tx, corpus_id, document_ids)
    return {id: row for id, row in newest.items() if not is_being_deleted(newest_of_row(row))}


def _newest_visible(tx: Transaction, corpus_id: str, document_ids: Sequence[str]) -> list[Row]:
    """Returns the newest revisions of documents, in this order.

    Raises `NotFound` if a document does not exist or is being deleted.
    """
    newest = newest_revisions(tx, corpus_id, document_ids)
    for id in document_ids:
        if id not in newest or not is_visible(newest_of_row(newest[id])):
            raise document_missing(id)
    return [newest[id] for id in document_ids]


def _visible_chunks(tx: Transaction, corpus_id: str, documents: Sequence[Row]) -> list[str]:
    """Returns the ids of the chunks of documents that readers see."""
    uids = sorted(uid_of(corpus_id, row["id"]) for row in documents)
    return [id for [id] in tx.stream(statements("submissions")["visible_chunks"], rows=uids)]

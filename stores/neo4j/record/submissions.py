"""The port of submissions in Neo4j: submissions and deletions become queued revisions."""

from collections.abc import Mapping, Sequence

from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Enqueued, NewRevision
from core.record_policy.submissions import check_distinct_keys
from stores.neo4j.changes import log, raise_generation
from stores.neo4j.driver.database import Database, Row, Transaction, batches
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.queued import add_deletions
from stores.neo4j.leases.states import STOPPABLE, count, move
from stores.neo4j.leases.submissions import RETRIABLE, is_same, living, newest, refuse_existing, submit
from stores.neo4j.record.jobs import close_job, insert_job, lock_job, number_job, read_job, touch_job

__all__ = ["Neo4jSubmissions"]


class Neo4jSubmissions:
    """Fills `core.ports.record.Submissions`."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            corpus = living(tx)
            if on_conflict is OnConflict.ERROR:
                refuse_existing(tx, corpus_id, revisions)
            job = job_id or insert_job(tx, corpus, JobKind.INGEST, is_open=False, token_budget=token_budget)
            documents = submit(tx, corpus_id, revisions, on_conflict, job)
            if job_id:
                touch_job(tx, job)
            else:
                number_job(tx, job)
            return Enqueued(job=read_job(tx, job), documents=documents)

        return await self._database.write(corpus_id, work)

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        ids = {document_id(key): key for key in fingerprints}

        def work(tx: Transaction) -> frozenset[str]:
            there = newest(tx, corpus_id, ids)
            return frozenset(ids[id] for id, row in there.items() if is_same(row, fingerprints[ids[id]], final=True))

        return await self._database.read(work)

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        def work(tx: Transaction) -> str:
            job_id = insert_job(tx, living(tx), kind, is_open=True, token_budget=token_budget)
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
            corpus = living(tx)
            rows = _visible(tx, corpus_id, list(dict.fromkeys(document_ids)))
            gone = [id for batch in batches(rows) for id in _chunks_of(tx, corpus_id, batch)]
            unfinished = [row["uid"] for row in rows if row["state"] in STOPPABLE]
            move(tx, unfinished, RevisionState.CANCELLED, reason="superseded", fence=True)
            job = insert_job(tx, corpus, JobKind.DELETE, is_open=False)
            add_deletions(tx, corpus_id, [row["id"] for row in rows], job)
            count(tx, {(job, RevisionState.QUEUED.value): len(rows)})
            log(tx, corpus_id, raise_generation(tx, corpus_id), deleted=gone)
            number_job(tx, job)
            return read_job(tx, job)

        return await self._database.write(corpus_id, work)

    async def retry(self, corpus_id: str, document_id: str) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = living(tx)
            [row] = _visible(tx, corpus_id, [document_id])
            if row["state"] not in RETRIABLE:
                raise Conflict(
                    f"document {row['key']!r} is {row['state']}; only failed or cancelled ones can be retried"
                )
            job = insert_job(tx, corpus, JobKind.INGEST, is_open=False)
            tx.run(statements("intake")["retry"], uid=row["uid"], job_id=job)
            count(tx, {(row["job_id"], row["state"]): -1, (job, row["state"]): 1})
            move(tx, [row["uid"]], RevisionState.QUEUED)
            number_job(tx, job)
            return read_job(tx, job)

        return await self._database.write(corpus_id, work)


def _visible(tx: Transaction, corpus_id: str, document_ids: Sequence[str]) -> list[Row]:
    """The newest revisions of documents, in this order. Raises `NotFound` where one is not there, or is going."""
    there = newest(tx, corpus_id, document_ids)
    for id in document_ids:
        if id not in there or there[id]["hidden"]:
            raise NotFound(f"there is no document with the id {id!r} in this corpus")
    return [there[id] for id in document_ids]


def _chunks_of(tx: Transaction, corpus_id: str, documents: Sequence[Row]) -> list[str]:
    """Ids of the chunks of documents that readers see until now."""
    uids = sorted(f"{corpus_id}:{row['id']}" for row in documents)
    return [id for [id] in tx.stream(statements("intake")["visible_chunks"], rows=uids)]

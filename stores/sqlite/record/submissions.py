"""The port of submissions in SQLite: submissions and deletions become queued revisions."""

from collections.abc import Mapping, Sequence

from core.documents import OnConflict, RevisionState
from core.errors import Conflict
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Enqueued, NewRevision
from stores.distinct_keys import refuse_twice
from stores.sqlite.changes import raise_generation
from stores.sqlite.database import Connection, Database
from stores.sqlite.leases.enqueueing import (
    RETRIABLE,
    enqueue_deletion,
    enqueue_into,
    is_same,
    newest_revision,
    read_visible_document,
    read_writable_corpus,
    refuse_existing,
)
from stores.sqlite.leases.states import count, finish_if_done, move
from stores.sqlite.record.jobs import insert_job, read_job

__all__ = ["SqliteSubmissions"]


class SqliteSubmissions:
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
        refuse_twice(revisions)

        def work(cx: Connection) -> Enqueued:
            corpus = read_writable_corpus(cx, corpus_id)
            if on_conflict is OnConflict.ERROR:
                refuse_existing(cx, corpus_id, revisions)
            job = job_id or insert_job(cx, corpus, JobKind.INGEST, is_open=False, token_budget=token_budget)
            documents = enqueue_into(cx, corpus_id, job, revisions, on_conflict)
            finish_if_done(cx, job)
            return Enqueued(job=read_job(cx, job), documents=documents)

        return await self._database.write(work)

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        def work(cx: Connection) -> frozenset[str]:
            same = set()
            for key, fingerprint in fingerprints.items():
                row = cx.execute(
                    "SELECT * FROM documents WHERE corpus_id = ? AND id = ?", (corpus_id, document_id(key))
                ).fetchone()
                if row is not None and is_same(newest_revision(cx, row), fingerprint, final=True):
                    same.add(key)
            return frozenset(same)

        return await self._database.read(work)

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        return await self._database.write(
            lambda cx: insert_job(
                cx, read_writable_corpus(cx, corpus_id), kind, is_open=True, token_budget=token_budget
            )
        )

    async def close_job(self, job_id: str) -> Job:
        def work(cx: Connection) -> Job:
            cx.execute("UPDATE jobs SET open = 0 WHERE id = ?", (job_id,))
            finish_if_done(cx, job_id)
            return read_job(cx, job_id)

        return await self._database.write(work)

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        def work(cx: Connection) -> Job:
            corpus = read_writable_corpus(cx, corpus_id)
            rows = [read_visible_document(cx, corpus_id, id) for id in dict.fromkeys(document_ids)]
            job = insert_job(cx, corpus, JobKind.DELETE, is_open=False)
            generation = raise_generation(cx, corpus_id)
            for row in rows:
                enqueue_deletion(cx, row, job, generation)
            finish_if_done(cx, job)
            return read_job(cx, job)

        return await self._database.write(work)

    async def retry(self, corpus_id: str, document_id: str) -> Job:
        def work(cx: Connection) -> Job:
            corpus = read_writable_corpus(cx, corpus_id)
            document = read_visible_document(cx, corpus_id, document_id)
            newest = newest_revision(cx, document)
            if newest["state"] not in RETRIABLE:
                raise Conflict(
                    f"document {document['key']!r} is {newest['state']}; only failed or cancelled ones can be retried"
                )
            job = insert_job(cx, corpus, JobKind.INGEST, is_open=False)
            count(cx, newest["job_id"], newest["state"], -1)
            count(cx, job, newest["state"], 1)
            cx.execute(
                "UPDATE revisions SET job_id = ?, attempts = 0, epoch = epoch + 1 WHERE seq = ?", (job, newest["seq"])
            )
            move(cx, [newest["seq"]], RevisionState.QUEUED)
            return read_job(cx, job)

        return await self._database.write(work)

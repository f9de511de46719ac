"""The port of reindexing in Neo4j: shadow corpora, the swap, and the deletion of corpora.

The functions take a transaction that has locked the corpus in use. The shadow corpus is always locked after it, so that
no two transactions wait for each other. The caller numbers new jobs, at the end.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from core.corpora import Corpus, CorpusSettings
from core.documents import RevisionState
from core.errors import NotFound
from core.ids import new_id
from core.jobs import Job, JobKind
from core.ports.record import NewRevision, Reindex, ReindexDifference
from stores.neo4j.driver.database import Database, Row, Transaction, unique
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import STOPPABLE, count, move
from stores.neo4j.record.jobs import close_job, insert_job, number_job, read_job
from stores.neo4j.rows import corpus_from_row
from stores.payloads import dump_settings

__all__ = ["Neo4jReindexing", "delete_corpus", "delete_shadow", "read_numbered"]


class Neo4jReindexing:
    """Fills `core.ports.record.Reindexing`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, corpus_id: str, settings: CorpusSettings) -> Reindex:
        def work(tx: Transaction) -> Reindex:
            made = _start(tx, corpus_from_row(tx.corpus), settings)
            number_job(tx, made.job_id)
            return made

        return await self._database.write(corpus_id, work)

    async def list(self) -> Sequence[Reindex]:
        return await self._database.read(_list)

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        return await self._database.read(lambda tx: _compare(tx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            dropped = _swap(tx, corpus_from_row(tx.corpus))
            return read_numbered(tx, dropped) if dropped else None

        return await self._database.write(corpus_id, work)

    async def cancel(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            dropped = delete_shadow(tx, corpus_from_row(tx.corpus))
            return read_numbered(tx, dropped) if dropped else None

        return await self._database.write(corpus_id, work)


def read_numbered(tx: Transaction, *job_ids: str) -> Job:
    """Numbers new jobs, and returns the last of them."""
    for job_id in job_ids:
        number_job(tx, job_id)
    return read_job(tx, job_ids[-1])


def _start(tx: Transaction, corpus: Corpus, settings: CorpusSettings) -> Reindex:
    if not corpus.name:
        raise NotFound(f"the corpus with the id {corpus.id!r} was deleted, or is being built itself")
    beside = replace(corpus, id=new_id(), settings=settings)  # its job is shown under the name that it will have
    job_id = insert_job(tx, beside, JobKind.REINDEX, is_open=True)
    with unique(f"corpus {corpus.name!r} is being reindexed already; wait for that job, or cancel it and begin again"):
        tx.run(
            statements("corpora")["create"],
            corpus={
                "id": beside.id,
                "settings": dump_settings(settings),
                "beside": corpus.id,
                "reindex_job": job_id,
            },
        )
    return Reindex(corpus_id=corpus.id, shadow_id=beside.id, job_id=job_id)


def _list(tx: Transaction) -> list[Reindex]:
    return [
        Reindex(corpus_id=row["corpus_id"], shadow_id=row["beside_id"], job_id=row["job_id"])
        for row in tx.rows(statements("corpora")["built"])
    ]


def _shadow_of(tx: Transaction, corpus_id: str) -> Row | None:
    row = tx.row(statements("corpora")["beside"], id=corpus_id)
    return None if row is None else row["corpus"]


def _compare(tx: Transaction, corpus_id: str, limit: int) -> ReindexDifference:
    beside = _shadow_of(tx, corpus_id)
    if beside is None:
        return ReindexDifference(revisions=(), document_ids=())
    values = {"corpus": corpus_id, "beside": beside["id"], "limit": limit}
    return ReindexDifference(
        revisions=tuple(_new_revision(row["revision"]) for row in tx.rows(statements("corpora")["lacking"], **values)),
        document_ids=tuple(row["id"] for row in tx.rows(statements("corpora")["too_much"], **values)),
    )


def _new_revision(row: Row) -> NewRevision:
    return NewRevision(
        key=row["key"],
        media_type=row["media_type"],
        content_hash=row["content_hash"],
        size=row["size"],
        fingerprint=row["fingerprint"],
        title=row.get("title"),
        metadata=json.loads(row["metadata"]),
    )


def _swap(tx: Transaction, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the old corpus; None if the shadow corpus is not complete."""
    found = _shadow_of(tx, corpus.id)
    if found is None:
        return None
    beside = tx.lock(found["id"])
    if _compare(tx, corpus.id, 1):
        return None
    if tx.row(statements("corpora")["undone"], corpus=corpus.id, beside=beside["id"]):
        return None
    dropped = delete_corpus(tx, corpus)
    tx.run(statements("corpora")["take_place"], id=beside["id"], name=corpus.name)
    close_job(tx, beside["reindex_job"])
    return dropped


def delete_shadow(tx: Transaction, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the shadow corpus; None if there is none."""
    found = _shadow_of(tx, corpus.id)
    if found is None:
        return None
    beside = tx.lock(found["id"])
    dropped = delete_corpus(tx, replace(corpus_from_row(beside), name=corpus.name))
    close_job(tx, beside["reindex_job"], cancelled=True)
    return dropped


def delete_corpus(tx: Transaction, corpus: Corpus) -> str:
    """Frees the name, cancels all work, and queues the deletion. Returns the id of its job."""
    uids = [row["uid"] for row in tx.rows(statements("corpora")["unfinished"], id=corpus.id, states=STOPPABLE)]
    move(tx, uids, RevisionState.CANCELLED, reason="the corpus was deleted", fence=True)
    job_id = insert_job(tx, corpus, JobKind.DROP, is_open=False)
    count(tx, {(job_id, RevisionState.QUEUED.value): 1})
    tx.run(statements("corpora")["drop"], id=corpus.id, job_id=job_id)
    return job_id

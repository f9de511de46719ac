"""Corpora that are built beside others, the swap, and the end of what is not needed any more.

Functions of a transaction that has locked the corpus in use. What is beside is locked after it, by all; so nobody who
holds both waits for another who does. New jobs are numbered by the caller, at the end.
"""

import json
from dataclasses import replace

from core.corpora import Corpus, CorpusSettings
from core.documents import RevisionState
from core.errors import NotFound
from core.ids import new_id
from core.jobs import JobKind
from core.ports.record import Behind, Built, NewRevision
from stores.neo4j.driver.database import Row, Transaction, unique
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.jobs import close_job, insert_job
from stores.neo4j.leases.states import STOPPABLE, count, move
from stores.payloads import dump_settings

__all__ = ["all_built", "behind", "build", "discard", "drop", "swap"]


def build(tx: Transaction, corpus: Corpus, settings: CorpusSettings) -> Built:
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
    return Built(corpus_id=corpus.id, beside_id=beside.id, job_id=job_id)


def all_built(tx: Transaction) -> list[Built]:
    return [Built(**row) for row in tx.rows(statements("corpora")["built"])]


def _built(tx: Transaction, corpus_id: str) -> Row | None:
    row = tx.row(statements("corpora")["beside"], id=corpus_id)
    return None if row is None else row["corpus"]


def behind(tx: Transaction, corpus_id: str, limit: int) -> Behind:
    beside = _built(tx, corpus_id)
    if beside is None:
        return Behind(revisions=(), document_ids=())
    values = {"corpus": corpus_id, "beside": beside["id"], "limit": limit}
    return Behind(
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


def swap(tx: Transaction, corpus: Corpus) -> str | None:
    """The id of the job that removes the old corpus; None where the new one is not whole."""
    found = _built(tx, corpus.id)
    if found is None:
        return None
    beside = tx.lock(found["id"])
    if behind(tx, corpus.id, 1):
        return None
    if tx.row(statements("corpora")["undone"], corpus=corpus.id, beside=beside["id"]):
        return None
    dropped = drop(tx, corpus)
    tx.run(statements("corpora")["take_place"], id=beside["id"], name=corpus.name)
    close_job(tx, beside["reindex_job"])
    return dropped


def discard(tx: Transaction, corpus: Corpus) -> str | None:
    """The id of the job that removes what was built beside a corpus; None where nothing was."""
    found = _built(tx, corpus.id)
    if found is None:
        return None
    beside = tx.lock(found["id"])
    dropped = drop(tx, replace(corpus_from_row(beside), name=corpus.name))
    close_job(tx, beside["reindex_job"], cancelled=True)
    return dropped


def drop(tx: Transaction, corpus: Corpus) -> str:
    """Take the name away, cancel all work, and queue the removal; returns its job."""
    uids = [row["uid"] for row in tx.rows(statements("corpora")["unfinished"], id=corpus.id, states=STOPPABLE)]
    move(tx, uids, RevisionState.CANCELLED, reason="the corpus was deleted", fence=True)
    job_id = insert_job(tx, corpus, JobKind.DROP, is_open=False)
    count(tx, {(job_id, RevisionState.QUEUED.value): 1})
    tx.run(statements("corpora")["drop"], id=corpus.id, job_id=job_id)
    return job_id

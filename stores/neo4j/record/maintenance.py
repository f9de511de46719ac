"""The port of maintenance in Neo4j: corpora with work, expired leases, orphans, and the deletion of corpora."""

from contextlib import suppress
from functools import partial

from core.documents import RevisionState
from core.errors import NotFound
from stores.neo4j import changes, trails
from stores.neo4j.changes import raise_generation
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases import claims
from stores.neo4j.leases.states import WORKING, count
from stores.neo4j.record.jobs import abandoned, close_job, lock_job

__all__ = ["Neo4jMaintenance"]

_CHUNKS = 500  # with some 20 relationships each
_ROWS = 5000
_KINDS = ("synonyms", "entities", "documents", "revisions", "extractions", "changes", "tombstones")


class Neo4jMaintenance:
    """Fills `core.ports.record.Maintenance`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_corpora_with_work(self) -> list[str]:
        return await self._database.read(claims.waiting)

    async def expire_leases(self, *, except_worker: str | None = None) -> int:
        expired = 0
        for corpus_id in await self._database.read(lambda tx: claims.leased(tx, except_worker)):
            try:
                expired += await self._database.write(
                    corpus_id, lambda tx: claims.expire(tx, tx.corpus["id"], except_worker)
                )
            except NotFound:
                continue  # the corpus was deleted meanwhile, with its revisions
        return expired

    async def count_expired_leases(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: _expired(tx, corpus_id))

    async def count_orphans(self, corpus_id: str) -> int:
        return len(await self._database.read(lambda tx: _orphans(tx, corpus_id)))

    async def delete_orphans(self, corpus_id: str) -> int:
        return await self._database.write(corpus_id, lambda tx: _delete_orphans(tx, corpus_id))

    async def list_deleted_corpora(self) -> list[str]:
        rows = await self._database.read(lambda tx: tx.rows(statements("work")["dropped"]))
        return [row["id"] for row in rows]

    async def delete_corpus_rows(self, corpus_id: str) -> None:
        try:
            while await self._database.write(corpus_id, _delete_some_rows):
                pass
        except NotFound:
            return

    async def prune(self) -> None:
        outdated, jobs = await self._database.read(lambda tx: (changes.outdated(tx), abandoned(tx)))
        for corpus_id in outdated:
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(changes.trim, corpus_id=corpus_id))
        for job_id in jobs:
            await self._database.write_unlocked(partial(_close, job_id=job_id))
        await trails.trim(self._database)


def _close(tx: Transaction, job_id: str) -> None:
    lock_job(tx, job_id)
    close_job(tx, job_id)


def _expired(tx: Transaction, corpus_id: str) -> int:
    row = tx.row(statements("mending")["lapsed"], corpus_id=corpus_id, working=list(WORKING), now=tx.now)
    return int(row["n"]) if row else 0


def _orphans(tx: Transaction, corpus_id: str) -> list[str]:
    """Returns the uids of the entities that no chunk mentions."""
    return [row["uid"] for row in tx.rows(statements("mending")["unmentioned"], corpus_id=corpus_id)]


def _delete_orphans(tx: Transaction, corpus_id: str) -> int:
    """Readers never see these entities. Synonym linking may have cached them, so the generation is raised."""
    uids = _orphans(tx, corpus_id)
    tx.run_batches(statements("mending")["drop"], uids)
    if uids:
        raise_generation(tx, corpus_id)
    return len(uids)


def _delete_some_rows(tx: Transaction) -> bool:
    """Deletes at most so many rows as one transaction bears; returns whether there may be more.

    The last transaction ends the job that deletes the corpus.
    """
    corpus = tx.corpus
    if corpus.get("name") is not None or corpus.get("beside") is not None:
        return False
    if trails.forget_some(tx, corpus["id"]):
        return True
    chunks = [row["uid"] for row in tx.rows(statements("work")["some_chunks"], corpus_id=corpus["id"], limit=_CHUNKS)]
    if chunks:
        tx.run(statements("work")["forget_chunks"], rows=sorted(chunks))
        return True
    for kind in _KINDS:
        if tx.rows(statements("work")[f"forget_{kind}"], corpus_id=corpus["id"], limit=_ROWS)[0]["gone"]:
            return True
    tx.run(statements("work")["forget_corpus"], corpus_id=corpus["id"])
    job = corpus["drop_job"]
    count(tx, {(job, RevisionState.QUEUED.value): -1, (job, RevisionState.DELETED.value): 1})
    return False

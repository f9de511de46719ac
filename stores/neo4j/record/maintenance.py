"""Maintenance in Neo4j: corpora with work, expired leases, orphans and deleted corpora; and the port of receipts."""

from contextlib import suppress
from functools import partial

from core.documents import RevisionState
from core.errors import NotFound
from core.ids import new_id
from core.ports.record.commits import DocumentCount
from core.record_policy.claims import LONGEST_LEASE_SECONDS
from core.record_policy.submissions import RECEIPT_SECONDS, WORKING, PresentReceipt, has_answer
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.transaction import Transaction, statements
from stores.neo4j.questions import delete_some_questions
from stores.neo4j.record.change_log import corpora_with_expired_changes, delete_expired_changes, raise_generation
from stores.neo4j.record.claims import corpora_with_leases, corpora_with_work, expire_leases
from stores.neo4j.record.jobs import abandoned_jobs, close_job, lock_job
from stores.neo4j.record.revisions import count
from stores.neo4j.trails import delete_expired_trails, delete_some_trails

_NOT_INDEXED = [state.value for state in RevisionState if state not in (RevisionState.INDEXED, RevisionState.DELETED)]
_CHUNKS = 500  # with about 20 relationships each
_ROWS = 5000
_KINDS = (
    *("synonyms", "entities", "documents", "revisions", "extractions", "changes", "tombstones"),
    *("merges", "rejections"),
)


class Neo4jMaintenance(Neo4jPort):
    """Implements `core.ports.record.Maintenance`."""

    async def list_corpora_with_work(self) -> list[str]:
        return await self._database.read(corpora_with_work)

    async def expire_leases(self) -> int:
        expired = 0
        for corpus_id in await self._database.read(corpora_with_leases):
            try:
                expired += await self._database.write(corpus_id, lambda tx: expire_leases(tx, tx.corpus["id"]))
            except NotFound:
                continue  # the corpus was deleted meanwhile, with its revisions
        return expired

    async def count_expired_leases(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: _count_expired_leases(tx, corpus_id))

    async def count_documents(self) -> list[DocumentCount]:
        return await self._database.read(_count_documents)

    async def count_orphans(self, corpus_id: str) -> int:
        return len(await self._database.read(lambda tx: _orphans(tx, corpus_id)))

    async def delete_orphans(self, corpus_id: str) -> int:
        return await self._database.write(corpus_id, lambda tx: _delete_orphans(tx, corpus_id))

    async def list_deleted_corpora(self) -> list[str]:
        rows = await self._database.read(lambda tx: tx.rows(statements("maintenance")["deleted_corpora"]))
        return [row["id"] for row in rows]

    async def delete_corpus_rows(self, corpus_id: str) -> None:
        try:
            while await self._database.write(corpus_id, _delete_some_rows):
                pass
        except NotFound:
            return

    async def prune(self) -> None:
        corpora, jobs = await self._database.read(lambda tx: (corpora_with_expired_changes(tx), abandoned_jobs(tx)))
        for corpus_id in corpora:
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(delete_expired_changes, corpus_id=corpus_id))
        for job_id in jobs:
            await self._database.write_unlocked(partial(_close, job_id=job_id))
        await self._database.write_unlocked(delete_expired_receipts)
        await delete_expired_trails(self._database)


def _close(tx: Transaction, job_id: str) -> None:
    lock_job(tx, job_id)
    close_job(tx, job_id)


def _count_documents(tx: Transaction) -> list[DocumentCount]:
    cypher = statements("maintenance")
    rows = tx.rows(cypher["count_documents"]) + tx.rows(cypher["count_unfinished"], states=_NOT_INDEXED)
    indexed = {row["name"]: row["documents"] for row in tx.rows(cypher["count_indexed"])}
    for row in rows:  # documents that readers see, and that are being indexed again
        if row["name"] in indexed:
            indexed[row["name"]] -= row["seen"]
    rows += [
        {"name": name, "state": RevisionState.INDEXED.value, "documents": documents, "since": tx.now}
        for name, documents in indexed.items()
        if documents
    ]
    rows.sort(key=lambda row: (row["name"], row["state"]))
    return [
        DocumentCount(
            corpus=row["name"],
            state=row["state"],
            documents=row["documents"],
            waiting_seconds=max(0.0, tx.now - row["since"]),
        )
        for row in rows
    ]


def _count_expired_leases(tx: Transaction, corpus_id: str) -> int:
    values = {"working": list(WORKING), "now": tx.now, "longest": LONGEST_LEASE_SECONDS}
    row = tx.row(statements("repair")["expired_leases"], corpus_id=corpus_id, **values)
    return int(row["n"]) if row else 0


def _orphans(tx: Transaction, corpus_id: str) -> list[str]:
    """Returns the uids of the entities that no chunk mentions and no fact names."""
    return [row["uid"] for row in tx.rows(statements("repair")["orphans"], corpus_id=corpus_id)]


def _delete_orphans(tx: Transaction, corpus_id: str) -> int:
    """Deletes the orphans, and returns how many there were.

    Readers never see these entities. A concurrent search for synonyms may have read them, so the generation is raised.
    """
    uids = _orphans(tx, corpus_id)
    tx.run_batches(statements("repair")["delete_orphans"], uids)
    if uids:
        tx.run(statements("repair")["count_entities"], corpus_id=corpus_id)
        raise_generation(tx, corpus_id)
    return len(uids)


def _delete_some_rows(tx: Transaction) -> bool:
    """Deletes as many rows as fit in one transaction. Returns whether there may be more.

    The last transaction ends the job that deletes the corpus.
    """
    corpus = tx.corpus
    if corpus.get("name") is not None or corpus.get("beside") is not None:
        return False
    if delete_some_trails(tx, corpus["id"]) or delete_some_questions(tx, corpus["id"]):
        return True
    chunks = [
        row["uid"] for row in tx.rows(statements("maintenance")["some_chunks"], corpus_id=corpus["id"], limit=_CHUNKS)
    ]
    if chunks:
        tx.run(statements("maintenance")["delete_chunks"], rows=sorted(chunks))
        return True
    for kind in _KINDS:
        if tx.rows(statements("maintenance")[f"delete_{kind}"], corpus_id=corpus["id"], limit=_ROWS)[0]["deleted"]:
            return True
    tx.run(statements("maintenance")["delete_corpus"], corpus_id=corpus["id"])
    job = corpus["drop_job"]
    count(tx, {(job, RevisionState.QUEUED.value): -1, (job, RevisionState.DELETED.value): 1})
    return False


_LIMIT = 10_000


class Neo4jReceipts(Neo4jPort):
    """Implements `core.ports.record.Receipts`."""

    async def begin(self, key: str, request: str, *, lease_seconds: float) -> str | None:
        def work(tx: Transaction) -> str | None:
            [row] = tx.rows(statements("receipts")["lock"], id=key, token=new_id())
            if row["request"] is not None:
                present = PresentReceipt(request=row["request"], answer=row["answer"], age=row["age"])
                if has_answer(present, request, lease_seconds):
                    return str(present.answer)
            tx.run(statements("receipts")["reserve"], id=key, request=request)
            return None

        return await self._database.write_unlocked(work)

    async def finish(self, key: str, answer: str) -> None:
        await self._database.write_unlocked(lambda tx: tx.run(statements("receipts")["finish"], id=key, answer=answer))

    async def release(self, key: str) -> None:
        await self._database.write_unlocked(lambda tx: tx.run(statements("receipts")["release"], id=key))


def delete_expired_receipts(tx: Transaction) -> None:
    tx.run(statements("receipts")["delete_expired"], seconds=RECEIPT_SECONDS, limit=_LIMIT)

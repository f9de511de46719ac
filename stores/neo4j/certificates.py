"""Removals and certificates in Neo4j: what transactions that remove write, and the port.

The functions of the transactions come first, which hold the lock of their corpus; the port comes last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Conflict
from core.ids import new_id
from core.ports.record import MAX_DOCUMENTS, Certificate, Removal, RemovalKind, RemovedDocument, Tombstone
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Row, Transaction, batches, statements, unique
from stores.record_rows import dump_removal, load_removal

_CYPHER = statements("certificates")
_AT_ONCE = 100


def insert_documents(
    tx: Transaction, corpus_id: str, documents: Sequence[RemovedDocument], listed: Tombstone | None
) -> None:
    """Writes that the transaction removes these documents; their `by` is read of their jobs. Writes nothing without
    documents, or in a shadow corpus.
    """
    jobs = sorted({document.job for document in documents})
    by = {row["id"]: row["by"] or "" for row in tx.rows_in_batches(_CYPHER["submitters"], jobs)}
    named = [
        RemovedDocument(**{**vars(document), "by": by.get(document.job, "")})
        for document in sorted(documents, key=lambda one: one.key)
    ]
    _insert(tx, corpus_id, RemovalKind.DOCUMENTS, named, listed=listed)


def insert_answers(
    tx: Transaction, corpus_id: str, documents: Mapping[str, int], job: str, submitted_by: str | None
) -> None:
    """Writes how many stored answers the deletion of documents has withdrawn, by the keys of the documents."""
    removed = [RemovedDocument(key=key, job=job, by=submitted_by or "") for key, n in sorted(documents.items()) if n]
    _insert(tx, corpus_id, RemovalKind.ANSWERS, removed, answers=sum(documents.values()))


def insert_corpus(tx: Transaction, corpus_id: str, corpus: str, job: str, submitted_by: str | None) -> None:
    """Writes that the job deletes a corpus with all its documents. It is certified when its rows are gone."""
    answers = tx.rows(_CYPHER["count_answers"], corpus_id=corpus_id)[0]["answers"]
    documents = [
        RemovedDocument(
            key=row["key"],
            contents=tuple(sorted(filter(None, row["contents"]))),
            passages=row["passages"],
            job=job,
            by=submitted_by or "",
        )
        for row in tx.rows(_CYPHER["corpus_documents"], corpus_id=corpus_id)
    ]
    for part in list(batches(documents, MAX_DOCUMENTS)) or [[]]:
        _write(tx, corpus_id, corpus, RemovalKind.CORPUS, part, answers=answers)
        answers = 0


def _insert(
    tx: Transaction,
    corpus_id: str,
    kind: RemovalKind,
    documents: Sequence[RemovedDocument],
    *,
    listed: Tombstone | None = None,
    answers: int = 0,
) -> None:
    name = tx.corpus.get("name")
    if documents and name is not None:
        _write(tx, corpus_id, name, kind, documents, listed=listed, answers=answers)


def _write(
    tx: Transaction,
    corpus_id: str,
    corpus: str,
    kind: RemovalKind,
    documents: Sequence[RemovedDocument],
    *,
    listed: Tombstone | None = None,
    answers: int = 0,
) -> None:
    removal = Removal(
        id=0,
        corpus_id=corpus_id,
        corpus=corpus,
        kind=kind,
        removed_at=tx.now,
        documents=tuple(documents),
        listed=listed or Tombstone(id=0, corpus_id=corpus_id),
        answers=answers,
    )
    tx.run(_CYPHER["insert_removal"], corpus_id=corpus_id, content=dump_removal(removal))


def move_certificates(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Gives the chain of a corpus to the corpus that takes its name. The caller holds the locks of both."""
    for name in ("move_certificates", "move_removals"):
        tx.run(_CYPHER[name], corpus_id=from_corpus, to=to_corpus)


class _NumberTaken(Conflict):
    """Another process has appended a certificate."""


class Neo4jCertificates(Neo4jPort):
    """Implements `core.ports.record.Certificates`. The uid of a certificate keeps two of them from having a number."""

    async def list_removals(self, corpus_id: str | None = None) -> Sequence[Removal]:
        rows = await self._database.read(lambda tx: tx.rows(_CYPHER["removals"], corpus_id=corpus_id, limit=_AT_ONCE))
        return [load_removal(row["id"], row["corpus_id"], row["content"]) for row in rows]

    async def get_last(self, corpus_id: str) -> Certificate | None:
        row = await self._database.read(lambda tx: tx.row(_CYPHER["last"], corpus_id=corpus_id))
        return None if row is None else _certificate(row)

    async def append(self, corpus_id: str, certificate: Certificate, removal: Removal | None = None) -> bool:
        uid = None if removal is None else uid_of(removal.corpus_id, str(removal.id))
        values: dict[str, Any] = {"corpus_id": corpus_id, **vars(certificate)}

        def work(tx: Transaction) -> None:
            if uid is not None and tx.row(_CYPHER["lock_removal"], uid=uid, token=new_id()) is None:
                return
            with unique(_NumberTaken("the chain has this number already")):
                tx.run(_CYPHER["append"], **values)
            if uid is not None:
                tx.run(_CYPHER["delete_removal"], uid=uid)

        try:
            await self._database.write_unlocked(work)
        except _NumberTaken:
            return False
        return True

    async def list(
        self, corpus: str, *, limit: int = 1000, after: tuple[str, int] | None = None
    ) -> Sequence[Certificate]:
        chain, number = after or ("", 0)
        rows = await self._database.read(
            lambda tx: tx.rows(_CYPHER["list"], corpus=corpus, chain=chain, number=number, limit=limit)
        )
        return [_certificate(row) for row in rows]


def _certificate(row: Row) -> Certificate:
    return Certificate(**row)

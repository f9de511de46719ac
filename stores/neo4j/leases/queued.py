"""Writing queued revisions: numbers that are never given again, and the documents that they are of."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.documents import RevisionState
from core.ids import document_id
from core.ports.record import NewRevision
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.payloads import dump

__all__ = ["add_deletions", "add_revisions"]


def add_revisions(tx: Transaction, corpus_id: str, revisions: Sequence[NewRevision], job_id: str) -> None:
    """Queued, in this order, and the newest of their documents, which are made where they are the first."""
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
                **_numbered(corpus_id, document_id(revision.key), number, job_id),
                "fingerprint": revision.fingerprint,
                "content_hash": revision.content_hash,
                "media_type": revision.media_type,
                "size": revision.size,
                "title": revision.title,
                "metadata": dump(dict(revision.metadata)),
            },
        }
        for number, revision in zip(_numbers(tx, corpus_id, len(revisions)), revisions, strict=True)
    ]
    tx.run_batches(statements("intake")["add"], sorted(rows, key=lambda row: row["revision"]["document_uid"]))


def add_deletions(tx: Transaction, corpus_id: str, document_ids: Sequence[str], job_id: str) -> None:
    """Queued revisions which say that documents go; they are invisible from now on."""
    nothing = {"fingerprint": "", "content_hash": "", "media_type": "", "size": 0, "metadata": "{}"}
    rows = [
        {**_numbered(corpus_id, id, number, job_id), **nothing}
        for number, id in zip(_numbers(tx, corpus_id, len(document_ids)), document_ids, strict=True)
    ]
    tx.run_batches(statements("intake")["add_deletions"], sorted(rows, key=lambda row: str(row["document_uid"])))


def _numbers(tx: Transaction, corpus_id: str, many: int) -> range:
    """Greater than all before, and never given again, not even to a document that went and came again."""
    if not many:
        return range(0)
    last = int(tx.rows(statements("intake")["take_numbers"], id=corpus_id, many=many)[0]["last"])
    return range(last - many + 1, last + 1)


def _numbered(corpus_id: str, id: str, number: int, job_id: str) -> Mapping[str, Any]:
    return {
        "uid": f"{corpus_id}:{id}:{number}",
        "corpus_id": corpus_id,
        "document_id": id,
        "document_uid": f"{corpus_id}:{id}",
        "number": number,
        "seq": number,
        "state": RevisionState.QUEUED.value,
        "job_id": job_id,
    }

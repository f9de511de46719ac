"""Removals and certificates in SQLite: what transactions that remove write, and the port.

The functions of the transactions come first: deletions withdraw answers, commits remove documents and contents, and
whole corpora go. The port comes last.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from core.corpora import Corpus
from core.ports.record import (
    MAX_DOCUMENTS,
    Certificate,
    Removal,
    RemovalKind,
    RemovedDocument,
    Tombstone,
)
from stores.record_rows import dump_removal, load_removal
from stores.sqlite.database import Connection, SqlitePort, now

_AT_ONCE = 100


def insert_removal(
    cx: Connection,
    corpus_id: str,
    kind: RemovalKind,
    documents: Sequence[RemovedDocument],
    *,
    listed: Tombstone | None = None,
    answers: int = 0,
) -> None:
    """Writes that the transaction removes these documents. Writes nothing without documents, or in a shadow corpus."""
    if not documents:
        return
    row = cx.execute("SELECT name FROM corpora WHERE id = ? AND name IS NOT NULL", (corpus_id,)).fetchone()
    if row is not None:
        _insert(cx, corpus_id, row["name"], kind, documents, listed=listed, answers=answers)


def _insert(
    cx: Connection,
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
        removed_at=now(),
        documents=tuple(documents),
        listed=listed or Tombstone(id=0, corpus_id=corpus_id),
        answers=answers,
    )
    cx.execute("INSERT INTO removals (corpus_id, content) VALUES (?, ?)", (corpus_id, dump_removal(removal)))


def insert_answers(
    cx: Connection, corpus_id: str, withdrawn: Mapping[str, int], job: str, submitted_by: str | None
) -> None:
    """Writes how many stored answers the deletion of documents has withdrawn, by the keys of the documents."""
    documents = [RemovedDocument(key=key, job=job, by=submitted_by or "") for key, n in withdrawn.items() if n]
    insert_removal(cx, corpus_id, RemovalKind.ANSWERS, documents, answers=sum(withdrawn.values()))


def insert_corpus(cx: Connection, corpus: Corpus, job: str, submitted_by: str | None) -> None:
    """Writes that the job deletes a corpus with all its documents. It is certified when its rows are gone."""
    answers = cx.execute("SELECT count(*) FROM questions WHERE corpus_id = ?", (corpus.id,)).fetchone()[0]
    rows = cx.execute(
        """
        SELECT d.key, d.chunks, group_concat(DISTINCT r.content_hash) AS contents
        FROM documents d JOIN revisions r ON r.document = d.number WHERE d.corpus_id = ?
        GROUP BY d.number ORDER BY d.key
        """,
        (corpus.id,),
    )
    while (part := rows.fetchmany(MAX_DOCUMENTS)) or answers is not None:
        documents = [
            RemovedDocument(
                key=row["key"],
                contents=tuple(sorted(filter(None, row["contents"].split(",")))),
                passages=row["chunks"],
                job=job,
                by=submitted_by or "",
            )
            for row in part
        ]
        _insert(cx, corpus.id, corpus.name, RemovalKind.CORPUS, documents, answers=answers or 0)
        answers = None


def move_certificates(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Gives the chain of a corpus to the corpus that takes its name."""
    for table in ("certificates", "removals"):
        cx.execute(f"UPDATE {table} SET corpus_id = ? WHERE corpus_id = ?", (to_corpus, from_corpus))


_LAST = """
    SELECT chain, number, corpus, line FROM certificates
    WHERE chain = (SELECT chain FROM certificates WHERE corpus_id = ? LIMIT 1) ORDER BY number DESC LIMIT 1
"""
_CHAINS = """
    SELECT DISTINCT chain FROM certificates
    WHERE corpus_id = :corpus OR corpus_id IN (SELECT id FROM corpora WHERE name = :corpus)
    OR corpus = :corpus AND corpus_id NOT IN (SELECT id FROM corpora WHERE name IS NOT NULL)
"""


class SqliteCertificates(SqlitePort):
    """Implements `core.ports.record.Certificates`."""

    async def list_removals(self, corpus_id: str | None = None) -> Sequence[Removal]:
        def work(cx: Connection) -> list[Removal]:
            rows = cx.execute(
                """
                SELECT r.* FROM removals r WHERE (:corpus IS NULL OR r.corpus_id = :corpus)
                AND NOT EXISTS (SELECT 1 FROM corpora c WHERE c.id = r.corpus_id AND c.name IS NULL)
                ORDER BY r.id LIMIT :limit
                """,
                {"corpus": corpus_id, "limit": _AT_ONCE},
            )
            return [load_removal(row["id"], row["corpus_id"], row["content"]) for row in rows]

        return await self._database.read(work)

    async def get_last(self, corpus_id: str) -> Certificate | None:
        def work(cx: Connection) -> Certificate | None:
            row = cx.execute(_LAST, (corpus_id,)).fetchone()
            return None if row is None else Certificate(**dict(row))

        return await self._database.read(work)

    async def append(self, corpus_id: str, certificate: Certificate, removal: Removal | None = None) -> bool:
        def work(cx: Connection) -> bool:
            if removal is not None and not cx.execute("SELECT 1 FROM removals WHERE id = ?", (removal.id,)).fetchone():
                return True
            one = certificate
            try:
                cx.execute(
                    "INSERT INTO certificates (chain, number, corpus_id, corpus, line) VALUES (?, ?, ?, ?, ?)",
                    (one.chain, one.number, corpus_id, one.corpus, one.line),
                )
            except sqlite3.IntegrityError:
                return False
            if removal is not None:
                cx.execute("DELETE FROM removals WHERE id = ?", (removal.id,))
            return True

        return await self._database.write(work)

    async def list(
        self, corpus: str, *, limit: int = 1000, after: tuple[str, int] | None = None
    ) -> Sequence[Certificate]:
        def work(cx: Connection) -> list[Certificate]:
            chain, number = after or ("", 0)
            rows = cx.execute(
                f"""
                SELECT chain, number, corpus, line FROM certificates WHERE chain IN ({_CHAINS})
                AND (chain, number) > (:chain, :number) ORDER BY chain, number LIMIT :limit
                """,
                {"corpus": corpus, "chain": chain, "number": number, "limit": limit},
            )
            return [Certificate(**dict(row)) for row in rows]

        return await self._database.read(work)

"""The generation of a corpus, and the logs by which snapshots and the documents of filters follow it."""

from collections.abc import Collection

from core.record_policy.commits import KEPT_SECONDS
from core.record_policy.errors import corpus_missing
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import make_corpus_number


def raise_generation(cx: Connection, corpus_id: str) -> int:
    """Returns the new generation."""
    cx.execute("UPDATE corpora SET generation = generation + 1 WHERE id = ?", (corpus_id,))
    row = cx.execute("SELECT generation FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return int(row["generation"])


def log_chunks(cx: Connection, corpus_id: str, generation: int, ids: Collection[str]) -> None:
    """Logs that chunks were written, deleted, hidden or shown at `generation`."""
    _log(cx, corpus_id, generation, ids, synonyms=False)


def log_synonyms(cx: Connection, corpus_id: str, generation: int, entity_ids: Collection[str]) -> None:
    """Logs that synonyms of these entities were written at `generation`."""
    _log(cx, corpus_id, generation, entity_ids, synonyms=True)


def _log(cx: Connection, corpus_id: str, generation: int, ids: Collection[str], *, synonyms: bool) -> None:
    if not ids:
        return
    corpus = make_corpus_number(cx, corpus_id)
    cx.executemany(
        "INSERT OR IGNORE INTO change_rows VALUES (?, ?, ?, ?)",
        ((corpus, generation, int(synonyms), bytes.fromhex(id)) for id in ids),
    )
    cx.execute("INSERT OR REPLACE INTO change_times VALUES (?, ?, ?)", (corpus, generation, now()))


def read_document_version(cx: Connection) -> int:
    """Returns a number that grows with each change of a document that readers see, in any corpus."""
    row = cx.execute("SELECT seq FROM sqlite_sequence WHERE name = 'document_changes'").fetchone()
    return int(row[0]) if row else 0


def list_changed_documents(cx: Connection, corpus: int, since: int) -> set[str] | None:
    """Returns the ids of the documents that changed after a version; None if the log does not reach back so far."""
    if since == read_document_version(cx):
        return set()
    oldest = cx.execute("SELECT min(version) FROM document_changes").fetchone()[0]
    if oldest is None or since < oldest - 1:
        return None
    rows = cx.execute("SELECT lower(hex(id)) FROM document_changes WHERE version > ? AND corpus = ?", (since, corpus))
    return {id for (id,) in rows}


def prune(cx: Connection) -> None:
    """Deletes old rows of the logs, and stores up to which generation they are deleted."""
    limit = now() - KEPT_SECONDS
    cx.execute("DELETE FROM document_changes WHERE at < ?", (limit,))
    outdated = cx.execute(
        "SELECT corpus, max(generation) AS top FROM change_times WHERE at < ? GROUP BY corpus", (limit,)
    ).fetchall()
    for row in outdated:
        for table in ("change_rows", "change_times"):
            cx.execute(f"DELETE FROM {table} WHERE corpus = ? AND generation <= ?", (row["corpus"], row["top"]))
        cx.execute(
            """
            UPDATE corpora SET changes_floor = max(changes_floor, ?)
            WHERE id = (SELECT id FROM corpus_numbers WHERE number = ?)
            """,
            (row["top"], row["corpus"]),
        )

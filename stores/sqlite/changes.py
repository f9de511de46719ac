"""The generation of a corpus, and the change log by which snapshots follow it."""

from collections.abc import Collection

from core.record_policy.change_log import KEPT_SECONDS
from core.record_policy.errors import corpus_missing
from stores.sqlite.database import Connection, now
from stores.sqlite.numbers import make_corpus_number

__all__ = ["log_chunks", "log_synonyms", "prune", "raise_generation"]


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


def prune(cx: Connection) -> None:
    """Deletes old rows of the log, and stores up to which generation they are deleted."""
    limit = now() - KEPT_SECONDS
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

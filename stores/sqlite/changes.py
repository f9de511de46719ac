"""The generation of a corpus, and the change log by which snapshots follow it."""

from collections.abc import Iterable

from core.record_policy.change_log import KEPT_SECONDS
from core.record_policy.errors import corpus_missing
from stores.sqlite.database import Connection, now

__all__ = ["log", "prune", "raise_generation"]


def raise_generation(cx: Connection, corpus_id: str) -> int:
    """Returns the new generation."""
    cx.execute("UPDATE corpora SET generation = generation + 1 WHERE id = ?", (corpus_id,))
    row = cx.execute("SELECT generation FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return int(row["generation"])


def log(cx: Connection, corpus_id: str, generation: int, kind: str, op: str, ids: Iterable[str]) -> None:
    """Logs that rows of `kind` ('chunk', or 'synonyms' of an entity) were written or deleted at `generation`."""
    at = now()
    cx.executemany(
        "INSERT OR REPLACE INTO changes (corpus_id, generation, kind, id, op, at) VALUES (?, ?, ?, ?, ?, ?)",
        ((corpus_id, generation, kind, id, op, at) for id in ids),
    )


def prune(cx: Connection) -> None:
    """Deletes old rows of the log, and stores up to which generation they are deleted."""
    limit = now() - KEPT_SECONDS
    outdated = cx.execute(
        "SELECT corpus_id, max(generation) AS top FROM changes WHERE at < ? GROUP BY corpus_id", (limit,)
    ).fetchall()
    for row in outdated:
        cx.execute("DELETE FROM changes WHERE corpus_id = ? AND generation <= ?", (row["corpus_id"], row["top"]))
        cx.execute(
            "UPDATE corpora SET changes_floor = max(changes_floor, ?) WHERE id = ?", (row["top"], row["corpus_id"])
        )

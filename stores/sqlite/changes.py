"""The generation of a corpus, and the log by which snapshots follow it."""

from collections.abc import Iterable

from core.errors import NotFound
from stores.sqlite.database import Connection, now

__all__ = ["KEPT_SECONDS", "log", "raise_generation", "trim"]

KEPT_SECONDS = 3600


def raise_generation(cx: Connection, corpus_id: str) -> int:
    cx.execute("UPDATE corpora SET generation = generation + 1 WHERE id = ?", (corpus_id,))
    row = cx.execute("SELECT generation FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return int(row["generation"])


def log(cx: Connection, corpus_id: str, generation: int, kind: str, op: str, ids: Iterable[str]) -> None:
    """Note that rows of `kind` ('chunk', or 'synonyms' of an entity) were written or removed at `generation`."""
    at = now()
    cx.executemany(
        "INSERT OR REPLACE INTO changes (corpus_id, generation, kind, id, op, at) VALUES (?, ?, ?, ?, ?, ?)",
        [(corpus_id, generation, kind, id, op, at) for id in ids],
    )


def trim(cx: Connection) -> None:
    """Drop changes that are older than an hour, and remember up to which generation they are gone."""
    limit = now() - KEPT_SECONDS
    gone = cx.execute(
        "SELECT corpus_id, max(generation) AS top FROM changes WHERE at < ? GROUP BY corpus_id", (limit,)
    ).fetchall()
    for row in gone:
        cx.execute("DELETE FROM changes WHERE corpus_id = ? AND generation <= ?", (row["corpus_id"], row["top"]))
        cx.execute(
            "UPDATE corpora SET changes_floor = max(changes_floor, ?) WHERE id = ?", (row["top"], row["corpus_id"])
        )

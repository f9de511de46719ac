"""Synonyms, and the entities whose synonyms are pending because two workers created both ends at the same time."""

from collections.abc import Collection, Sequence

from core.graph import Synonym
from stores.sqlite.changes import log_synonyms, raise_generation
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import id_list

__all__ = ["add_pending", "link", "list_pending", "write_synonyms"]


def write_synonyms(cx: Connection, corpus_id: str, synonyms: Sequence[Synonym], generation: int) -> None:
    """Writes and logs the synonyms of which both entities exist."""
    both = "EXISTS (SELECT 1 FROM entities WHERE corpus_id = ? AND raw_id = from_hex(?))"
    written: set[str] = set()
    for s in synonyms:
        done = cx.execute(
            f"INSERT OR REPLACE INTO synonyms SELECT ?, ?, ?, ? WHERE {both} AND {both}",
            (corpus_id, s.first_id, s.second_id, s.score, corpus_id, s.first_id, corpus_id, s.second_id),
        )
        if done.rowcount:
            written |= {s.first_id, s.second_id}
    log_synonyms(cx, corpus_id, generation, written)


def add_pending(cx: Connection, corpus_id: str, entity_ids: Collection[str], grace: float) -> None:
    """Makes the synonyms of entities pending. Any worker links them after `grace` seconds, unless `link` is called."""
    due = now() + grace
    cx.executemany("INSERT OR REPLACE INTO unsettled VALUES (?, ?, ?)", [(corpus_id, id, due) for id in entity_ids])


def list_pending(cx: Connection, corpus_id: str) -> list[str]:
    """See `core.ports.record.Commits.list_pending_synonyms`."""
    rows = cx.execute(
        "SELECT entity_id FROM unsettled WHERE corpus_id = ? AND due_at <= ? ORDER BY entity_id", (corpus_id, now())
    )
    return [row["entity_id"] for row in rows]


def link(cx: Connection, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
    """See `core.ports.record.Commits.link_synonyms`."""
    write_synonyms(cx, corpus_id, synonyms, raise_generation(cx, corpus_id))
    cx.execute(
        "DELETE FROM unsettled WHERE corpus_id = ? AND entity_id IN (SELECT value FROM json_each(?))",
        (corpus_id, id_list(entity_ids)),
    )

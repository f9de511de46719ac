"""Entities in a commit: they exist while some chunk mentions them in some form."""

from collections.abc import Sequence

from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = ["delete_entities", "delete_unsupported", "insert_entities", "select_new"]


def select_new(cx: Connection, effects: SqliteCommitEffects) -> list[str]:
    """Returns the ids of the mentioned entities that do not exist yet, ascending."""
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.corpus_id = ? AND e.id = value)
        """,
        (id_list(sorted(effects.names)), effects.corpus_id),
    )
    return [row["value"] for row in rows]


def insert_entities(cx: Connection, effects: SqliteCommitEffects) -> None:
    """Inserts the mentioned entities, and adds the changes of the counts of forms."""
    cx.executemany(
        "INSERT OR IGNORE INTO entities VALUES (?, ?, ?)",
        ((effects.corpus_id, id, name) for id, name in effects.names.items()),
    )
    cx.executemany(
        "INSERT INTO forms VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        ((effects.corpus_id, entity, form, change) for (entity, form), change in effects.forms.items() if change),
    )


def delete_unsupported(cx: Connection, effects: SqliteCommitEffects) -> list[str]:
    """Deletes the entities that nothing mentions any more. Returns their ids."""
    shrunk = {entity for (entity, _), change in effects.forms.items() if change < 0}
    listed = id_list(sorted(shrunk))
    cx.execute(
        "DELETE FROM forms WHERE corpus_id = ? AND entity_id IN (SELECT value FROM json_each(?)) AND count <= 0",
        (effects.corpus_id, listed),
    )
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM forms f WHERE f.corpus_id = ? AND f.entity_id = value)
        """,
        (listed, effects.corpus_id),
    )
    orphans = [row["value"] for row in rows]
    delete_entities(cx, effects.corpus_id, orphans)
    return orphans


def delete_entities(cx: Connection, corpus_id: str, ids: Sequence[str]) -> None:
    """Deletes entities with their forms and synonyms."""
    values = (corpus_id, id_list(ids))
    among = "IN (SELECT value FROM json_each(?))"
    cx.execute(f"DELETE FROM entities WHERE corpus_id = ? AND id {among}", values)
    cx.execute(f"DELETE FROM forms WHERE corpus_id = ? AND entity_id {among}", values)
    cx.execute(f"DELETE FROM unsettled WHERE corpus_id = ? AND entity_id {among}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND first_id {among}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND second_id {among}", values)

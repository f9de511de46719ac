"""Entities in a commit: they exist while some chunk mentions them in some form."""

from collections.abc import Sequence

from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.numbers import find_corpus_number
from stores.sqlite.rows import id_list

__all__ = ["delete_entities", "delete_unsupported", "select_new"]

_AMONG = "IN (SELECT value FROM json_each(?))"
_NUMBERS = "SELECT number FROM entity_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"


def select_new(cx: Connection, effects: SqliteCommitEffects) -> list[str]:
    """Returns the ids of the mentioned entities that do not exist yet, ascending."""
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM entity_rows e WHERE e.corpus = ? AND e.id = from_hex(value))
        """,
        (id_list(sorted(effects.names)), effects.corpus),
    )
    return [row["value"] for row in rows]


def delete_unsupported(cx: Connection, effects: SqliteCommitEffects) -> list[str]:
    """Deletes the entities that nothing mentions any more. Returns their ids."""
    shrunk = {entity for (entity, _), change in effects.forms.items() if change < 0}
    if not shrunk:
        return []
    listed = id_list(sorted(shrunk))
    cx.execute(
        f"DELETE FROM form_rows WHERE entity IN ({_NUMBERS}) AND count <= 0",
        (effects.corpus, listed),
    )
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (
            SELECT 1 FROM entity_rows e JOIN form_rows f ON f.entity = e.number
            WHERE e.corpus = ? AND e.id = from_hex(value)
        )
        """,
        (listed, effects.corpus),
    )
    orphans = [row["value"] for row in rows]
    delete_entities(cx, effects.corpus_id, orphans)
    return orphans


def delete_entities(cx: Connection, corpus_id: str, ids: Sequence[str]) -> None:
    """Deletes entities with their forms and synonyms."""
    if not ids:
        return
    values, numbered = (corpus_id, id_list(ids)), (find_corpus_number(cx, corpus_id), id_list(ids))
    cx.execute(f"DELETE FROM form_rows WHERE entity IN ({_NUMBERS})", numbered)
    cx.execute(f"DELETE FROM entity_rows WHERE number IN ({_NUMBERS})", numbered)
    cx.execute(f"DELETE FROM unsettled WHERE corpus_id = ? AND entity_id {_AMONG}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND first_id {_AMONG}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND second_id {_AMONG}", values)

"""Deletion of entities, with everything that hangs on them."""

from collections.abc import Sequence

from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = ["delete_entities"]


def delete_entities(cx: Connection, corpus_id: str, ids: Sequence[str]) -> None:
    """Deletes entities with their forms and synonyms."""
    gone = (corpus_id, id_list(ids))
    among = "IN (SELECT value FROM json_each(?))"
    cx.execute(f"DELETE FROM entities WHERE corpus_id = ? AND id {among}", gone)
    cx.execute(f"DELETE FROM forms WHERE corpus_id = ? AND entity_id {among}", gone)
    cx.execute(f"DELETE FROM unsettled WHERE corpus_id = ? AND entity_id {among}", gone)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND first_id {among}", gone)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND second_id {among}", gone)

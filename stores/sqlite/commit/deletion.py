"""What a commit deletes: chunks with their mentions and facts, and the entities that nothing mentions any more."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from stores.sqlite.database import Connection
from stores.sqlite.numbers import find_corpus_number
from stores.sqlite.rows import id_list

__all__ = ["Deleted", "delete_chunks", "delete_entities", "delete_unsupported"]

_AMONG = "IN (SELECT value FROM json_each(?))"
_NUMBERS = "SELECT number FROM entity_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"


@dataclass
class Deleted:
    """What lost support in a transaction, all that may have to go with it.

    `forms` are the numbers of forms that fewer chunks have, `triples` lost an assertion, `view_ids` a chunk, and
    `content_hashes` a revision.
    """

    forms: set[int] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)
    view_ids: set[str] = field(default_factory=set)
    content_hashes: set[str] = field(default_factory=set)


def delete_chunks(cx: Connection, corpus: int, ids: Collection[str], deleted: Deleted) -> None:
    """Deletes chunks of the corpus with this number, with their mentions and facts."""
    if not ids:
        return
    values = (corpus, id_list(ids))
    chunks = "SELECT number FROM chunk_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"
    mentions = f"SELECT form, sum(count) FROM mention_rows WHERE chunk IN ({chunks}) GROUP BY form"
    counts = cx.execute(mentions, values).fetchall()
    cx.executemany("UPDATE form_rows SET count = count - ?2 WHERE number = ?1", counts)
    deleted.forms |= {form for form, _ in counts}
    facts = cx.execute(f"SELECT triple FROM fact_rows WHERE chunk IN ({chunks})", values)
    deleted.triples |= {row["triple"].hex() for row in facts}
    views = cx.execute(f"SELECT view_id FROM chunk_rows WHERE number IN ({chunks})", values)
    deleted.view_ids |= {row["view_id"].hex() for row in views}
    cx.execute(f"DELETE FROM mention_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM fact_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM chunk_rows WHERE number IN ({chunks})", values)


def delete_unsupported(cx: Connection, corpus_id: str, deleted: Deleted) -> list[str]:
    """Deletes the forms that no chunk has any more, and the entities without a form. Returns the entities' ids."""
    if not deleted.forms:
        return []
    ended = cx.execute(
        f"DELETE FROM form_rows WHERE number {_AMONG} AND count <= 0 RETURNING entity", (id_list(deleted.forms),)
    )
    rows = cx.execute(
        f"""
        SELECT lower(hex(id)) AS id FROM entity_rows WHERE number {_AMONG}
        AND NOT EXISTS (SELECT 1 FROM form_rows f WHERE f.entity = entity_rows.number) ORDER BY id
        """,
        (id_list({row["entity"] for row in ended.fetchall()}),),
    )
    orphans = [row["id"] for row in rows]
    delete_entities(cx, corpus_id, orphans)
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

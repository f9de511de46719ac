"""The numbers of corpora, chunks and entities, by which rows of mentions and facts name them."""

from collections.abc import Collection

from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = ["delete_numbered_rows", "find_corpus_number", "make_corpus_number", "read_numbers"]

_OF_CORPUS = "SELECT number FROM {} WHERE corpus = ?"
_DELETED = (
    ("mention_rows", "chunk", "chunk_rows"),
    ("fact_rows", "chunk", "chunk_rows"),
    ("form_rows", "entity", "entity_rows"),
)


def find_corpus_number(cx: Connection, corpus_id: str) -> int:
    """Returns the number of a corpus; 0, which none has, if nothing was written into it yet."""
    row = cx.execute("SELECT number FROM corpus_numbers WHERE id = ?", (corpus_id,)).fetchone()
    return int(row[0]) if row else 0


def make_corpus_number(cx: Connection, corpus_id: str) -> int:
    """Returns the number of a corpus, which gets one if it has none."""
    number = find_corpus_number(cx, corpus_id)
    return number or int(cx.execute("INSERT INTO corpus_numbers (id) VALUES (?)", (corpus_id,)).lastrowid or 0)


def read_numbers(cx: Connection, table: str, corpus: int, ids: Collection[str]) -> dict[str, int]:
    """Returns the numbers of rows of `chunk_rows` or `entity_rows` by their ids, without those that are missing."""
    rows = cx.execute(
        f"SELECT id, number FROM {table} WHERE corpus = ? AND id IN (SELECT value FROM json_each(?))",
        (corpus, id_list(ids)),
    )
    return {row["id"]: row["number"] for row in rows}


def delete_numbered_rows(cx: Connection, corpus_id: str) -> None:
    """Deletes the chunks and the graph of a corpus."""
    corpus = find_corpus_number(cx, corpus_id)
    for table, column, owner in _DELETED:
        cx.execute(f"DELETE FROM {table} WHERE {column} IN ({_OF_CORPUS.format(owner)})", (corpus,))
    cx.execute("DELETE FROM chunk_rows WHERE corpus = ?", (corpus,))
    cx.execute("DELETE FROM entity_rows WHERE corpus = ?", (corpus,))
    cx.execute("DELETE FROM corpus_numbers WHERE number = ?", (corpus,))

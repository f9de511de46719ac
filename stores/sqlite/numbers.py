"""The numbers of corpora, documents, chunks and entities, by which rows name them."""

from collections.abc import Collection

from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = [
    "OF_CORPUS",
    "OF_DOCUMENT",
    "OF_ID",
    "delete_numbered_rows",
    "find_corpus_number",
    "make_corpus_number",
    "read_numbers",
]

OF_CORPUS = "corpus = (SELECT number FROM corpus_numbers WHERE id = ?)"
"""A condition on rows of a corpus; its parameter is the id."""

OF_ID = f"{OF_CORPUS} AND id = from_hex(?)"
"""A condition on a row of `document_rows`, `chunk_rows` or `entity_rows`; its parameters are the corpus' id and its."""

OF_DOCUMENT = f"document = (SELECT number FROM document_rows WHERE {OF_ID})"
"""A condition on rows of a document; its parameters are the ids of the corpus and the document."""

_NUMBERS = "SELECT number FROM {} WHERE corpus = ?"
_DELETED = (
    ("mention_rows", "chunk", "chunk_rows"),
    ("fact_rows", "chunk", "chunk_rows"),
    ("form_rows", "entity", "entity_rows"),
    ("extraction_rows", "document", "document_rows"),
    ("revision_rows", "document", "document_rows"),
)
_DELETED_WHOLE = ("chunk_rows", "entity_rows", "document_rows", "change_rows", "change_times")


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
        f"SELECT id, number FROM {table} WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))",
        (corpus, id_list(ids)),
    )
    return {row["id"].hex(): row["number"] for row in rows}


def delete_numbered_rows(cx: Connection, corpus_id: str) -> None:
    """Deletes the documents, chunks, graph and change log of a corpus."""
    corpus = find_corpus_number(cx, corpus_id)
    for table, column, owner in _DELETED:
        cx.execute(f"DELETE FROM {table} WHERE {column} IN ({_NUMBERS.format(owner)})", (corpus,))
    for table in _DELETED_WHOLE:
        cx.execute(f"DELETE FROM {table} WHERE corpus = ?", (corpus,))
    cx.execute("DELETE FROM corpus_numbers WHERE number = ?", (corpus,))

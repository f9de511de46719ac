"""Rows of SQLite as values, ids as parameters of a statement, and the numbers by which rows name each other.

Corpora, documents, chunks and entities have numbers.
"""

import json
import sqlite3
from collections.abc import Collection

from core.corpora import Corpus
from core.documents import Chunk, Document
from core.ports.record import Claim
from stores.record_rows import load_chunk, load_claim, load_corpus, load_document
from stores.sqlite.database import Connection


def id_list(ids: Collection[str | int]) -> str:
    """Returns ids, or numbers, as one parameter, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(ids))


def marks(values: Collection[object]) -> str:
    """Returns as many question marks as there are values, for `IN (…)`."""
    return ", ".join("?" * len(values))


def corpus_from_row(row: sqlite3.Row) -> Corpus:
    return load_corpus(row.__getitem__)


def document_from_row(row: sqlite3.Row) -> Document:
    return load_document(row.__getitem__)


def chunk_from_row(row: sqlite3.Row) -> Chunk:
    return load_chunk(row.__getitem__)


def claim_from_row(row: sqlite3.Row) -> Claim:
    return load_claim(row.__getitem__)


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
    """Returns the number of a corpus; a corpus without a number gets one."""
    number = find_corpus_number(cx, corpus_id)
    return number or int(cx.execute("INSERT INTO corpus_numbers (id) VALUES (?)", (corpus_id,)).lastrowid or 0)


def _read_numbers(cx: Connection, table: str, corpus: int, ids: Collection[str]) -> dict[str, int]:
    """Returns the numbers of rows of `chunk_rows` or `entity_rows` by their ids, without the missing ids."""
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

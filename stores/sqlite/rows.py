"""Rows of SQLite as values, and ids as parameters of a statement."""

import json
import sqlite3
from collections.abc import Collection

from core.corpora import Corpus
from core.documents import Chunk, Document
from core.ports.record import Claim
from stores.record_rows import load_chunk, load_claim, load_corpus, load_document

__all__ = ["chunk_from_row", "claim_from_row", "corpus_from_row", "document_from_row", "id_list", "marks"]


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

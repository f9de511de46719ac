"""The record's file as schema 13 had it: documents, revisions, chunks, entities and changes with ids in digits."""

import sqlite3
from pathlib import Path

from stores.sqlite.packing import add_functions

__all__ = ["SCHEMA_13", "put_back"]

SCHEMA_13 = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

_ROWS = {
    "documents": """
        SELECT corpus_id, id, key, title, metadata, newest, current, hidden, chunks, malformed, disabled FROM documents
    """,
    "revisions": """
        SELECT seq, corpus_id, document_id, number, deletion, state, reason, fingerprint, content_hash, media_type,
            size, title, metadata, job_id, owner, lease_until, epoch, attempts, updated_at FROM revisions
    """,
    "chunk_rows": """
        SELECT c.number, c.corpus, c.id, c.document_id, c.view_id, c.position, c.title_names, r.terms, r.text,
            c.heading, c.page, c.span_start, c.span_end, c.extract_hash, c.tokens
        FROM chunks c JOIN chunk_rows r ON r.number = c.number
    """,
    "entity_rows": "SELECT number, corpus, id, name FROM entities",
    "extractions": "SELECT corpus_id, document_id, extract_hash, payload FROM extractions",
    "changes": """
        SELECT k.id, g.generation, iif(g.synonyms, 'synonyms', 'chunk'), lower(hex(g.id)), 'put', t.at
        FROM change_rows g JOIN change_times t ON t.corpus = g.corpus AND t.generation = g.generation
        JOIN corpus_numbers k ON k.number = g.corpus
    """,
}
"""The rows of the tables of schema 13 that later ones changed, in the order of their columns."""

_VIEWS = ("extractions", "facts", "mentions", "forms", "entities", "chunks", "revisions", "documents")
_TABLES = (
    *("change_rows", "change_times", "extraction_rows"),
    *("document_changes", "entity_rows", "chunk_rows", "revision_rows", "document_rows", "corpus_counts"),
)
_TRIGGERS = ("corpora_counted", "corpora_uncounted")
"""Those of a table that stays."""


def put_back(connection: sqlite3.Connection) -> None:
    """Makes the tables of a file of this schema those of schema 13, with the same rows."""
    add_functions(connection)
    rows = {table: [tuple(row) for row in connection.execute(query)] for table, query in _ROWS.items()}
    for view in _VIEWS:
        connection.execute(f"DROP VIEW {view}")
    for trigger in _TRIGGERS:
        connection.execute(f"DROP TRIGGER {trigger}")
    for table in _TABLES:
        connection.execute(f"DROP TABLE {table}")
    for statement in _split(SCHEMA_13):
        if not _exists(connection, statement):
            connection.execute(statement)
    for table, kept in rows.items():
        for row in kept:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - names of tables above


def _split(script: str) -> list[str]:
    """Returns the statements, each with the comment lines before it."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements


def _exists(connection: sqlite3.Connection, statement: str) -> bool:
    """Whether what a CREATE statement makes is there."""
    made = next(line for line in statement.splitlines() if line.startswith("CREATE ")).replace("UNIQUE ", "")
    name = made.split()[2]
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchone() is not None

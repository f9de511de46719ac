"""The record's file as older releases had it, with the same rows: `put_back` makes one of a file of this release.

Schema 13 had documents, revisions, chunks, entities and changes with ids in digits, schema 12 mentions and facts with
the ids of chunks and entities. Each earlier schema lacks what the step from it adds.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from stores.sqlite.packing import add_functions

__all__ = ["put_back"]

_SCHEMA_13 = Path(__file__).with_name("older_schema_13.sql").read_text(encoding="utf-8")

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

_TABLES_12 = """
CREATE TABLE chunks (
    corpus_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    view_id      TEXT NOT NULL,
    position     INTEGER NOT NULL,
    title_names  TEXT NOT NULL,             -- ids joined by a space
    terms        BLOB NOT NULL,             -- rows of core.text.terms.TERM
    text         TEXT NOT NULL,
    heading      TEXT NOT NULL,
    page         INTEGER,
    span_start   INTEGER,
    span_end     INTEGER,
    extract_hash TEXT NOT NULL,
    tokens       INTEGER NOT NULL,
    PRIMARY KEY (corpus_id, id)
) STRICT;  -- with row ids: rows of more than 1 KB would each take a page of their own without
CREATE INDEX chunks_by_document ON chunks (corpus_id, document_id, position);
CREATE UNIQUE INDEX chunks_by_view ON chunks (corpus_id, view_id);

CREATE TABLE entities (
    corpus_id TEXT NOT NULL,
    id        TEXT NOT NULL,
    name      TEXT NOT NULL,                -- normalised
    PRIMARY KEY (corpus_id, id)
) STRICT, WITHOUT ROWID;

-- How often each spelling of an entity survives: the most frequent is its display name, none left ends the entity.
CREATE TABLE forms (
    corpus_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    form      TEXT NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (corpus_id, entity_id, form)
) STRICT, WITHOUT ROWID;

CREATE TABLE mentions (
    corpus_id TEXT NOT NULL,
    chunk_id  TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    form      TEXT NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (corpus_id, chunk_id, entity_id, form)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions (corpus_id, entity_id);

CREATE TABLE facts (
    corpus_id  TEXT NOT NULL,
    id         TEXT NOT NULL,
    triple_id  TEXT NOT NULL,
    chunk_id   TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    predicate  TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    PRIMARY KEY (corpus_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX facts_by_chunk ON facts (corpus_id, chunk_id);
CREATE INDEX facts_by_triple ON facts (corpus_id, triple_id);
"""

_VIEWS_12 = {
    "chunks": "corpus_id, id, document_id, view_id, position, title_names, terms, text, heading, page, span_start, "
    "span_end, extract_hash, tokens",
    "entities": "corpus_id, id, name",
    "forms": "corpus_id, entity_id, form, count",
    "mentions": "corpus_id, chunk_id, entity_id, form, count",
    "facts": "corpus_id, id, triple_id, chunk_id, subject_id, predicate, object_id",
}
_TABLES_13 = ("mention_rows", "fact_rows", "form_rows", "chunk_rows", "entity_rows", "corpus_numbers")
_OLD_SETTINGS = """
UPDATE corpora
SET settings = '{"chunker":"passage","dimension":8,"embedding_model":"twin","extractor":"pattern","fine":"auto"}'
"""
"""Those of `testing.record`, as the releases wrote them that knew no others."""
_TAKEN_BACK: Mapping[int, Sequence[str]] = {
    11: [f"DROP TABLE {table}" for table in ("questions", "question_events", "question_sources")],
    10: ["ALTER TABLE jobs DROP COLUMN submitted_by"],
    9: ["DROP TABLE api_keys", "DROP TABLE api_key_usage"],
    8: ["DROP INDEX documents_disabled"],
    7: ["DROP TABLE job_progress", "DROP TABLE revision_progress"],
    6: ["ALTER TABLE documents DROP COLUMN disabled"],
    5: ["DROP TABLE merges"],
    4: ["DROP TABLE receipts"],
    3: [
        *("DROP TABLE unsettled", "DROP INDEX corpora_by_beside", "ALTER TABLE corpora DROP COLUMN beside"),
        *("ALTER TABLE corpora DROP COLUMN reindex_job", _OLD_SETTINGS),
    ],
    2: [
        f"ALTER TABLE jobs DROP COLUMN {column}"
        for column in ("token_budget", "token_grant", "calls", "prompt_tokens", "completion_tokens")
    ],
}
"""What takes back the step from each version."""


def put_back(connection: sqlite3.Connection, version: int) -> None:
    """Makes a file of this release one of schema `version`, which is 13 or less."""
    add_functions(connection)
    _put_back_to_13(connection)
    if version < 13:
        _put_back_to_12(connection)
    for step in range(11, version - 1, -1):
        for statement in _TAKEN_BACK[step]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()


def _put_back_to_12(connection: sqlite3.Connection) -> None:
    for view, columns in _VIEWS_12.items():
        connection.execute(f"CREATE TEMP TABLE kept_{view} AS SELECT {columns} FROM main.{view}")  # noqa: S608
    for view in reversed(_VIEWS_12):
        connection.execute(f"DROP VIEW {view}")
    for table in _TABLES_13:
        connection.execute(f"DROP TABLE {table}")
    connection.executescript(_TABLES_12)
    for view, columns in _VIEWS_12.items():
        connection.execute(f"INSERT INTO main.{view} ({columns}) SELECT {columns} FROM kept_{view}")  # noqa: S608


def _put_back_to_13(connection: sqlite3.Connection) -> None:
    rows = {table: [tuple(row) for row in connection.execute(query)] for table, query in _ROWS.items()}
    for view in _VIEWS:
        connection.execute(f"DROP VIEW {view}")
    for trigger in _TRIGGERS:
        connection.execute(f"DROP TRIGGER {trigger}")
    for table in _TABLES:
        connection.execute(f"DROP TABLE {table}")
    for statement in _split(_SCHEMA_13):
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

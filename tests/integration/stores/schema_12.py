"""The record's file as schema 12 had it: mentions and facts with the ids of chunks and entities."""

import sqlite3

from stores.sqlite.packing import add_functions

__all__ = ["TABLES", "put_back", "put_back_tables"]

TABLES = """
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

_VIEWS = {
    "chunks": "corpus_id, id, document_id, view_id, position, title_names, terms, text, heading, page, span_start, "
    "span_end, extract_hash, tokens",
    "entities": "corpus_id, id, name",
    "forms": "corpus_id, entity_id, form, count",
    "mentions": "corpus_id, chunk_id, entity_id, form, count",
    "facts": "corpus_id, id, triple_id, chunk_id, subject_id, predicate, object_id",
}
_NEW = ("mention_rows", "fact_rows", "form_rows", "chunk_rows", "entity_rows", "corpus_numbers")


def put_back(connection: sqlite3.Connection) -> None:
    """Makes the tables of a file of schema 13 those of schema 12, with the same rows."""
    add_functions(connection)
    for view, columns in _VIEWS.items():
        connection.execute(f"CREATE TEMP TABLE kept_{view} AS SELECT {columns} FROM main.{view}")  # noqa: S608
    put_back_tables(connection)
    for view, columns in _VIEWS.items():
        connection.execute(f"INSERT INTO main.{view} ({columns}) SELECT {columns} FROM kept_{view}")  # noqa: S608


def put_back_tables(connection: sqlite3.Connection) -> None:
    """As `put_back`, without any rows."""
    for view in reversed(_VIEWS):
        connection.execute(f"DROP VIEW {view}")
    for table in _NEW:
        connection.execute(f"DROP TABLE {table}")
    connection.executescript(TABLES)
